"""What addition, subtraction and multiplication share: their types, and the plan of ``self ∘ alpha × other``."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX32,
    COMPLEX64,
    COMPLEX128,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    DType,
)
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    InOut,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    broadcast_shape,
    castable,
    mapped,
    numbers,
    promote,
    promote_scalar,
    scalar_castable,
    shape_is,
)

REALS = (FLOAT, FLOAT16, DOUBLE, INT32, INT64, INT16, INT8, UINT8, BOOL, BF16)
NUMBERS = (*REALS, COMPLEX64, COMPLEX128)
WITHOUT_BF16 = {Product.A310B: tuple(dtype for dtype in NUMBERS if dtype is not BF16)}

NumberIn = Annotated[Operand, In(*NUMBERS, on=WITHOUT_BF16)]
NumberOut = Annotated[Operand, Out(*NUMBERS, on=WITHOUT_BF16)]
NumberRef = Annotated[Operand, InOut(*NUMBERS, const=False, on=WITHOUT_BF16)]
ConstNumberRef = Annotated[Operand, InOut(*NUMBERS, on=WITHOUT_BF16)]
RealRef = Annotated[Operand, InOut(*REALS)]
NumberScalar = Annotated[Scalar, HandleKind(Scalar, *NUMBERS)]
RealScalar = Annotated[Scalar, HandleKind(Scalar, *REALS)]


def combined(
    kernel: Callable[..., Array],
    left: Operand,
    right: Operand | Scalar,
    out: Operand,
    alpha: Scalar | None = None,
    *,
    name: str = "other",
) -> Plan:
    """``out = kernel(left, right, alpha)`` in the type that both are promoted to; ``right`` broadcasts, ``alpha`` is converted.

    ``name`` is that of ``right`` where it is a number.
    """
    dtype = promote(left, right) if isinstance(right, Operand) else promote_scalar(left, right, name)
    if alpha is not None and (dtype is not BOOL or alpha.dtype.kind != "integer"):  # truth values take integers
        scalar_castable(alpha, "alpha", dtype)
    castable(dtype, out)
    shape_is(out, broadcast_shape(left, right) if isinstance(right, Operand) else left.shape, "that of the result")
    computed, taken, finish = _SPECIAL.get(dtype, (dtype, unchanged, unchanged))

    def number(scalar: Scalar) -> Any:
        return taken(finish(scalar.converted(computed)))[()]

    scalars = () if alpha is None else (number(alpha),)
    if isinstance(right, Operand):
        return mapped(lambda x, y: finish(kernel(taken(x), taken(y), *scalars)), reads=(left, right), writes=(out,), dtype=computed)
    other = number(right)
    return mapped(lambda x: finish(kernel(taken(x), other, *scalars)), reads=(left,), writes=(out,), dtype=computed)


def unchanged(values: Array) -> Array:
    """As they are."""
    return values


def as_integer(values: Array) -> Array:
    """Truth values as the integers 0 and 1."""
    return values.astype(np.int8)


def is_true(values: Array) -> Array:
    """What is not zero."""
    found: Array = values != 0
    return found


def half_parts(values: Array) -> Array:
    """Complex numbers whose parts are rounded to half precision."""
    rounded = np.empty(np.shape(values), np.complex64)
    rounded.real = np.real(values).astype(np.float16)
    rounded.imag = np.imag(values).astype(np.float16)
    return rounded


# Truth values are added as integers. No array type has half-precision parts.
_SPECIAL = {BOOL: (BOOL, as_integer, is_true), COMPLEX32: (COMPLEX64, unchanged, half_parts)}


def pair_examples(operator: Operator) -> Iterator[Example]:
    """Two tensors that broadcast, or a tensor and a scalar; ``alpha`` and ``out`` where the operator has them."""
    parameters = dict(operator.parameters)
    in_place = "out" not in parameters
    scalar = isinstance(parameters["other"], HandleKind)
    calls = (
        ((FLOAT, 2.5, 1.5, FLOAT), (FLOAT16, np.float16(0.3), np.int64(2), FLOAT), (INT32, np.int32(7), 3, INT64))
        if scalar
        else ((FLOAT, FLOAT, 1.5, FLOAT), (FLOAT16, INT32, np.int64(2), DOUBLE), (INT64, INT8, 3, INT64))
    )
    for first, other, alpha, out in calls:
        # A result in place has the type of selfRef; the tensors' one has to hold what both promote to.
        changed = out if in_place and not scalar else first
        example: Example = {
            operator.parameters[0].name: numbers((3, 4, 5), changed, 1, 9),
            "other": numbers((4, 1), other, 2, 9) if isinstance(other, DType) else other,
            "alpha": alpha,
            "out": numbers((3, 4, 5), out, 3),
        }
        yield {name: example[name] for name in parameters}


def plus(x: Array, y: Any, alpha: Any) -> Array:
    """A sum with ``alpha`` times the other."""
    total: Array = x + alpha * y
    return total
