"""aclnnInplaceFillDiagonal: one number on the main diagonal of a tensor."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT32, DType
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    InOut,
    Operand,
    Plan,
    Product,
    ScalarIn,
    direct,
    nothing,
    numbers,
    operator,
    require,
)
from aclnnop.conversion.diagonals import TYPES
from aclnnop.conversion.moves import NEWER
from aclnnop.math.conversion import converted


@operator(products=NEWER | {Product.A310P})
def aclnnInplaceFillDiagonal(selfRef: Annotated[Operand, InOut(*TYPES, const=False, rank=(2, 8))], fillValue: ScalarIn, wrap: Bool) -> Plan:
    """Set the elements whose indices are all equal; with ``wrap`` the diagonal of a tall matrix starts again after a row."""
    require(
        selfRef.rank == 2 or len(set(selfRef.shape)) == 1,
        f"selfRef has shape {list(selfRef.shape)}, expected equal lengths where there are more than 2 dimensions",
    )
    require(fillValue.dtype.kind != "complex", f"fillValue has dtype {fillValue.dtype}, which cannot be converted to {FLOAT}")
    require(fits(fillValue, selfRef.dtype), f"fillValue is {fillValue.value}, which overflows the type of selfRef: {selfRef.dtype}")
    if not selfRef.size:
        return nothing()
    number = converted(np.asarray(fillValue.value), selfRef.dtype)[()]
    return direct(fill, reads=(), writes=(selfRef,), scratch={}, number=number, wrap=wrap)


@aclnnInplaceFillDiagonal.example
def examples() -> Iterator[Example]:
    """A tall matrix with and without a second diagonal, and a cube."""
    for dtype, shape, wrap in ((FLOAT, (7, 3), True), (BF16, (7, 3), False), (INT32, (3, 3, 3), False)):
        yield {"selfRef": numbers(shape, dtype, 1, 9), "fillValue": 5, "wrap": wrap}


def fits(number: Scalar, dtype: DType) -> bool:
    """Whether a type holds a number: a fraction is cut off, infinity is a float, unsigned integers wrap negative numbers around."""
    value = number.as_real() if number.dtype.kind == "float" else int(number.value)
    if dtype.kind == "integer":
        limits = np.iinfo(dtype.numpy)
        return (limits.min or -limits.max) <= value <= limits.max
    return dtype.kind == "bool" or not np.isfinite(value) or bool(np.isfinite(number.converted(dtype)))


def fill(x: Array, *, number: object, wrap: bool) -> None:
    """In place."""
    places = np.arange(min(x.shape))
    index = (places,) * x.ndim
    if wrap and x.ndim == 2 and x.shape[0] > x.shape[1]:
        index = np.unravel_index(np.arange(0, x.size, x.shape[1] + 1), x.shape)
    x[index] = number
