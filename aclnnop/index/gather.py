"""aclnnGather: elements along one dimension, each by an index of its own."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, INT32, INT64, UINT16, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.spec import (
    Array,
    ConstInt,
    Example,
    In,
    Operand,
    Out,
    Plan,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
    wrap_dim,
)
from aclnnop.index.gathering import PLACES, REAL
from aclnnop.index.places import as_row, check_beside, check_no_longer, within

TYPES = (*REAL, UINT16, UINT32, UINT64)


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnGather(
    self: Annotated[Operand, In(*TYPES)], dim: ConstInt, index: Annotated[Operand, In(*PLACES)], out: Annotated[Operand, Out(*TYPES)]
) -> Plan:
    """Take for each element of ``index`` the one of ``self`` that stands there, but at that index along ``dim``."""
    same_dtype(self, out)
    check_beside(self, index)
    shape_is(out, index.shape, "as index")
    axis = wrap_dim(dim, self)
    check_no_longer(index, self, axis)
    if 0 in out.shape:
        return nothing()
    require(0 not in self.shape[axis : axis + 1], f"self has shape {list(self.shape)}, expected elements along dim {dim}")
    return direct(chosen, reads=(self, index), writes=(out,), scratch={}, axis=axis, name=index.name)


@aclnnGather.example
def examples() -> Iterator[Example]:
    """Along every dimension, with fewer indices than elements along the others, and negative ones."""
    for dtype, dim, places, shape in (
        (FLOAT, 0, INT64, (5, 3)),
        (BF16, 1, INT32, (3, 7)),
        (BOOL, -1, INT64, (2, 2)),
        (DOUBLE, -2, INT32, (3, 4)),
    ):
        yield {"self": numbers((3, 4), dtype, 1, 9), "dim": dim, "index": between(-3, 3, shape, places, 2), "out": numbers(shape, dtype, 3)}


def chosen(values: Array, index: Array, out: Array, *, axis: int, name: str) -> None:
    """The other dimensions of ``values`` may be longer than those of the indices."""
    places, rows = as_row(within(index, values.shape[axis] if values.ndim else 1, name, negative=True)), as_row(values)
    part = rows[tuple(slice(None if other == axis else length) for other, length in enumerate(places.shape))]
    out[...] = np.take_along_axis(part, places, axis).reshape(out.shape)
