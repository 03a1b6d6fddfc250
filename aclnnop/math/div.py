"""aclnnDiv, aclnnDivs, aclnnDivMod, aclnnDivMods and what they are in place: quotients, as they are or rounded to integers."""

import enum
from collections.abc import Iterator
from typing import Annotated, Any

from acl_emu.core import soc
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    ALL,
    CHOICE_LATER,
    Array,
    Example,
    HandleKind,
    In,
    IntKind,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    in_place,
    operator,
    require,
    shape_is,
)
from aclnnop.math.binary import NOT_310, NUMBERS, REAL_NUMBERS, Value, applied, binary, common, floating, kept, result_shape, with_scalar
from aclnnop.math.quotient import floored, integer_floored, integer_truncated, quotient, truncated
from aclnnop.math.unary import COMPLEX, REALS, without_bf16

FLOATING = (*REALS, *COMPLEX)


@binary(
    *NUMBERS,
    rule=floating,
    results=NUMBERS,
    results_on={Product.A950: FLOATING, Product.A310B: without_bf16(NUMBERS)},
    products=ALL - {Product.A310P},
)
def aclnnDiv(self: Array, other: Array) -> Any:
    """Divide every element by the other one."""
    return quotient(self, other)


aclnnInplaceDiv = in_place(aclnnDiv)
aclnnDivs = with_scalar(aclnnDiv, "aclnnDivs", products=NOT_310)
aclnnInplaceDivs = in_place(aclnnDivs)


class Mode(enum.IntEnum):
    """How a quotient is rounded."""

    NONE = 0
    TRUNC = 1
    FLOOR = 2


# For each mode the formulas of floating-point and of integers.
ROUNDED = {Mode.TRUNC: (truncated, integer_truncated), Mode.FLOOR: (floored, integer_floored)}

NumberIn = Annotated[Operand, In(*NUMBERS)]
NumberOut = Annotated[Operand, Out(*NUMBERS)]
NumberScalar = Annotated[Scalar, HandleKind(Scalar, *NUMBERS)]
ModeIn = Annotated[int, IntKind("int", choices=Mode)]
MODE = IntKind("int", choices=Mode)


@operator(products=NOT_310, checks=CHOICE_LATER)
def aclnnDivMod(self: NumberIn, other: NumberIn, mode: ModeIn, out: NumberOut) -> Plan:
    """Divide every element by the other one, and round as ``mode`` says."""
    return rounded(self, other, mode, out)


@operator(products=NOT_310, checks=CHOICE_LATER)
def aclnnDivMods(self: NumberIn, other: NumberScalar, mode: ModeIn, out: NumberOut) -> Plan:
    """Divide every element by a number, and round as ``mode`` says."""
    return rounded(self, other, mode, out)


aclnnInplaceDivMod = in_place(aclnnDivMod, *NUMBERS, on={Product.A950: REAL_NUMBERS})
aclnnInplaceDivMods = in_place(aclnnDivMods, *NUMBERS, on={Product.A950: REAL_NUMBERS})


def rounded(self: Operand, other: Value, mode: int, out: Operand) -> Plan:
    """The plan of a quotient in a mode; without rounding it is that of a plain one."""
    dtype = common("self", self, "other", other)
    via = (floating if mode == Mode.NONE else kept)(dtype, out)
    shape_is(out, result_shape(self, other), "that of the result")
    MODE.check_choice("mode", mode)
    if mode == Mode.NONE:
        newest = soc.current().product is Product.A950
        require(not newest or out.dtype in FLOATING, f"{out.name} has dtype {out.dtype}, expected a floating-point type where mode is 0")
        return applied(quotient, (self, other), via, out)
    require(dtype.kind != "complex", f"self and other are combined in {dtype}, expected a real type where mode is {mode}")
    formula, integers = ROUNDED[Mode(mode)]
    return applied(integers if via.kind in ("integer", "bool") else formula, (self, other), via, out)


def mode_examples(plain: Operator) -> Iterator[Example]:
    """Those of a plain quotient in the type of ``self``, in every mode."""
    for example in plain.examples():
        if example["out"].dtype == example["self"].dtype:
            modes = Mode if example["out"].dtype.kind != "c" else (Mode.NONE,)
            yield from ({**example, "mode": int(mode)} for mode in modes)


aclnnDivMod.example(lambda: mode_examples(aclnnDiv))
aclnnDivMods.example(lambda: mode_examples(aclnnDivs))
