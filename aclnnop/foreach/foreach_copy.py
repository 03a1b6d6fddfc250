"""aclnnForeachCopy: a copy of every tensor of a list."""

from collections.abc import Iterator
from typing import Annotated, Any

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32
from acl_emu.spec import DTYPE, FORMAT, LENGTH, NULL, Example, Operand, Operator, Plan, mapped, numbers, operator, require
from aclnnop.foreach.each import PRODUCTS, TensorsIn, TensorsOut, for_each, tiling
from aclnnop.math.unary import unchanged

TYPES = (FLOAT, FLOAT16, BF16, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, DOUBLE, BOOL)
CASTS = {FLOAT: (FLOAT16, BF16), FLOAT16: (FLOAT,)}
"""The other types that a type may be copied to."""


def castable(operator: Operator, values: tuple[Any, ...]) -> None:
    """161002 for results of a type that the input at the same place is not cast to."""
    del operator
    for source, result in zip(*values, strict=False):
        allowed = (source.dtype, *CASTS.get(source.dtype, ()))
        listed = " or ".join(map(str, allowed))
        require(result.dtype in allowed, f"{result.name} has dtype {result.dtype}, expected {listed} for {source.name} of {source.dtype}")


@operator(products=PRODUCTS, checks=(NULL, LENGTH, DTYPE, FORMAT, castable, tiling))
def aclnnForeachCopy(x: Annotated[list[Operand], TensorsIn(*TYPES)], out: Annotated[list[Operand], TensorsOut(*TYPES)]) -> Plan:
    """Copy every tensor of a list, FLOAT and FLOAT16 also with a cast."""
    return for_each(copied, x, out)


@aclnnForeachCopy.example
def examples() -> Iterator[Example]:
    """Copies of floats and of truth values, and casts."""
    shapes = ((3, 4), (2, 1, 5))
    for given, wanted in ((FLOAT, FLOAT), (BOOL, BOOL), (FLOAT, BF16), (FLOAT16, FLOAT)):
        x = [numbers(shape, given, seed) for seed, shape in enumerate(shapes)]
        yield {"x": x, "out": [numbers(shape, wanted, 7) for shape in shapes]}


def copied(self: Operand, out: Operand) -> Plan:
    """Bit by bit, or rounded to the type of the result."""
    return mapped(unchanged, reads=(self,), writes=(out,), dtype=self.dtype)
