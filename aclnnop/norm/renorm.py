"""aclnnRenorm and aclnnInplaceRenorm: slices scaled down to a largest norm."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    ScalarIn,
    in_place,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    wrap_dim,
)
from aclnnop.math.reduction import FLOATS, NEWER, norm

_LEAST = 1e-7
"""What a norm is divided by at least."""


@operator(products=NEWER | {Product.A910})
def aclnnRenorm(
    self: Annotated[Operand, In(*FLOATS, rank=(2, 8))],
    p: ScalarIn,
    dim: Int,
    maxNorm: ScalarIn,
    out: Annotated[Operand, Out(*FLOATS, rank=(2, 8))],
) -> Plan:
    """Scale every slice at an index of ``dim`` whose norm of order ``p`` is larger than ``maxNorm`` down to it."""
    same_shape(self, out)
    same_dtype(self, out)
    order, most = p.as_real(), maxNorm.as_real()
    require(order >= 0, f"p is {order}, expected a value of at least 0")
    axis = wrap_dim(dim, self)
    require(most >= 0, f"maxNorm is {most}, expected a value of at least 0")
    axes = tuple(one for one in range(self.rank) if one != axis)
    return mapped(scaled_down, reads=(self,), writes=(out,), dtype=self.dtype, axes=axes, order=order, most=most)


@aclnnRenorm.example
def examples() -> Iterator[Example]:
    """Slices of both kinds."""
    for dtype, order, dim in ((FLOAT, 2.0, 1), (BF16, 1.0, -1)):
        yield {"self": numbers((3, 4, 5), dtype, 1), "p": order, "dim": dim, "maxNorm": 3.5, "out": numbers((3, 4, 5), dtype, 2)}


aclnnInplaceRenorm = in_place(aclnnRenorm)


def scaled_down(values: Array, *, axes: tuple[int, ...], order: float, most: float) -> Array:
    """Slices whose norm is small enough stay as they are."""
    size = norm(values, axes=axes, order=order)
    found: Array = values * np.where(size > most, most / np.maximum(size, size.dtype.type(_LEAST)), size.dtype.type(1))
    return found
