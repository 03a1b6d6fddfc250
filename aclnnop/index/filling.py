"""What operators share that set whole slices to one number."""

from __future__ import annotations

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT32, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Operand, Plan, same_dtype, same_shape, wrap_dim
from aclnnop.index.places import as_element, outside
from aclnnop.index.scattering import Changes, changed

TYPES = (FLOAT16, FLOAT, INT32, INT64, BOOL, BF16)


def check_fill(self: Operand, dim: int, out: Operand) -> int:
    """The axis, where everything fits."""
    axis = wrap_dim(dim, self)
    same_shape(self, out)
    same_dtype(self, out)
    return axis


def filled(self: Operand, axis: int, index: Operand | None, value: Scalar, out: Operand, *, places: tuple[int, ...] = ()) -> Plan:
    """The slices along ``axis`` that ``index``, or ``places``, chooses are ``value``."""
    number = as_element(value, "value", self)
    name = index.name if index else "index"
    return changed(fill, self, (index,), out, axes=(axis,), number=number, places=places, name=name)


def fill(source: Array, index: Array | None, *, number: object, places: tuple[int, ...], name: str) -> Changes:
    """Indices count from either end; one that is outside counts for nothing."""
    length = source.shape[0]
    chosen = np.asarray(places if index is None else index).reshape(-1).astype(np.int64)
    skipped = "" if index is None else outside(index, length, name, negative=True)
    inside = chosen[(chosen >= -length) & (chosen < length)]
    return Changes((np.where(inside < 0, inside + length, inside),), np.asarray(number, source.dtype), skipped)
