"""aclnnPrecisionCompare: whether two tensors have the same elements."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, UINT32
from acl_emu.spec import Array, Example, FloatIn, Operand, Out, Plan, mapped, numbers, operator, same_dtype, same_shape, shape_is
from aclnnop.math.unary import NEWER

SAME, DIFFERENT = 0, 503


@operator(products=NEWER)
def aclnnPrecisionCompare(golden: FloatIn, realdata: FloatIn, out: Annotated[Operand, Out(UINT32, rank=0)]) -> Plan:
    """Give 0 where all elements are the same, NaN among them, and 503 where one differs."""
    same_dtype(golden, realdata)
    same_shape(golden, realdata)
    shape_is(out, (), "a single number")
    return mapped(verdict, reads=(golden, realdata), writes=(out,), dtype=golden.dtype)


def verdict(golden: Array, real: Array) -> Array:
    """A number for all elements."""
    same = (golden == real) | ((golden != golden) & (real != real))
    found: Array = np.where(same.all(), np.uint32(SAME), np.uint32(DIFFERENT))
    return found


@aclnnPrecisionCompare.example
def examples() -> Iterator[Example]:
    """The same, and others."""
    for dtype, seed in ((FLOAT, 1), (FLOAT16, 2), (BF16, 1)):
        yield {"golden": numbers((3, 5), dtype, 1), "realdata": numbers((3, 5), dtype, seed), "out": np.array(7, np.uint32)}
