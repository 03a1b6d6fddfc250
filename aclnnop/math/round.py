"""aclnnRound, aclnnRoundDecimals and what they are in place: every element rounded to an integer, or to some decimals."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    in_place,
    mapped,
    numbers,
    operator,
    same_dtype,
    same_shape,
)
from aclnnop.math.unary import NEWER, REALS, same, unary, unchanged

TYPES = (*REALS, INT32, INT64)


@unary(*REALS, INT32, INT64, rule=same, integers=unchanged, products=NEWER | {Product.A910})
def aclnnRound(self: Array) -> Any:
    """Round every element to the nearest integer, halves to the even one; zero is never negative."""
    return np.rint(self) + 0.0


aclnnInplaceRound = in_place(aclnnRound, const=True)


@operator(products=NEWER | {Product.A910})
def aclnnRoundDecimals(self: Annotated[Operand, In(*TYPES)], decimals: Int, out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Round every element to a number of decimals, halves to the even digit; a negative number counts digits before the point."""
    same_dtype(self, out)
    same_shape(self, out)
    if self.dtype.kind == "integer":
        kernel = partial(tens, digits=-decimals) if decimals < 0 else unchanged
        return mapped(kernel, reads=(self,), writes=(out,), dtype=self.dtype)
    # The scaled number is rounded to the computing type first, as on a device: 0.35 times 10 is 3.5 there.
    return mapped(partial(rounded, decimals=decimals), reads=(self,), writes=(out,), dtype=self.dtype)


aclnnInplaceRoundDecimals = in_place(aclnnRoundDecimals)


@aclnnRoundDecimals.example
def examples() -> Iterator[Example]:
    """Decimals, none, and digits before the point."""
    for dtype, decimals in ((FLOAT, 2), (BF16, 1), (DOUBLE, 0), (FLOAT16, -1), (INT32, -1), (INT64, 3)):
        yield {"self": numbers((3, 5), dtype, 1, 20), "decimals": decimals, "out": numbers((3, 5), dtype, 2)}


def rounded(x: Array, *, decimals: int) -> Array:
    """Numbers that the scale makes too large have no such decimals."""
    scale = 10.0 ** min(abs(decimals), 308)
    scaled = x * scale if decimals > 0 else x / scale
    nearest = np.rint(scaled)
    return np.where(np.isfinite(scaled), nearest / scale if decimals > 0 else nearest * scale, x)


def tens(x: Array, *, digits: int) -> Array:
    """Integers rounded to a power of ten."""
    if digits > 18:
        return x * 0
    wide = x.astype(np.int64)
    power = 10**digits
    below = wide // power
    rest = wide - below * power
    up = (rest * 2 > power) | ((rest * 2 == power) & (below % 2 == 1))
    nearest: Array = ((below + up) * power).astype(x.dtype)
    return nearest
