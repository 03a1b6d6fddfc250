"""aclnnExpSegsum: exponentials of all sums of neighbouring elements."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, mapped, numbers, operator, same_dtype, shape_is
from aclnnop.math.reduction import FLOATS, NEWER


@operator(products=NEWER)
def aclnnExpSegsum(self: Annotated[Operand, In(*FLOATS, rank=(3, 4))], out: Annotated[Operand, Out(*FLOATS, rank=(4, 5))]) -> Plan:
    """Take the exponential of the sum of the elements behind ``j`` up to ``i``, at every ``i`` and ``j`` of the last dimension."""
    same_dtype(self, out)
    shape_is(out, (*self.shape, self.shape[-1]), "self with its last dimension twice")
    return mapped(segment_sums, reads=(self,), writes=(out,), dtype=self.dtype)


@aclnnExpSegsum.example
def examples() -> Iterator[Example]:
    """Both ranks."""
    for dtype, shape in ((FLOAT, (2, 3, 5)), (BF16, (2, 1, 3, 4))):
        yield {"self": numbers(shape, dtype, 1), "out": numbers((*shape, shape[-1]), dtype, 2)}


def segment_sums(values: Array) -> Array:
    """Zero above the diagonal, one on it."""
    length = values.shape[-1]
    below = np.tri(length, k=-1, dtype=np.bool_)
    sums = np.where(below, values[..., :, None].astype(np.float64), 0).cumsum(axis=-2)
    found: Array = np.where(np.tri(length, dtype=np.bool_), np.exp(sums), 0)
    return found
