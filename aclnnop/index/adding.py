"""What the versions of aclnnIndexAdd share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Example, Operand, Plan, between, numbers, require, same_dtype, same_shape, wrap_dim
from aclnnop.index.places import check_beside, check_number
from aclnnop.index.row_sums import summed
from aclnnop.index.scattering import Combine, changed, slices


def check_slices(self: Operand, dim: int, index: Operand, source: Operand) -> int:
    """The axis; 161002 where ``source`` has not one slice for each index, or slices of another shape."""
    axis = wrap_dim(dim, self)
    check_beside(self, source)
    own, other = (operand.shape or (1,) for operand in (self, source))
    require(
        (*own[:axis], *own[axis + 1 :]) == (*other[:axis], *other[axis + 1 :]),
        f"{source.name} has shape {list(source.shape)}, expected that of {self.name} but for dimension {axis}: {list(self.shape)}",
    )
    require(
        index.size == other[axis], f"{index.name} has {index.size} elements, expected one for each slice of {source.name}: {other[axis]}"
    )
    return axis


def added(self: Operand, dim: int, index: Operand, source: Operand, alpha: Scalar, out: Operand, *, with_alpha: bool = True) -> Plan:
    """Add the slices of ``source`` along ``dim``, multiplied by ``alpha``."""
    same_dtype(self, source, out)
    axis = check_slices(self, dim, index, source)
    check_number(alpha, "alpha", self)
    same_shape(self, out)
    factor: Any = np.asarray(alpha.converted(self.dtype))[()] if with_alpha else None
    plan = changed(slices, self, (index, source), out, axes=(axis,), name=index.name, combine=Combine.ADD, axis=axis, factor=factor)
    in_c = axis == 0 and index.rank == 1 and self.dtype.kind == "float"
    return summed(plan, index, source, out, self, factor=1 if factor is None else float(factor)) if in_c else plan


def examples(*, two_dimensional: bool = False) -> Iterator[Example]:
    """Every dimension, the same index more than once, with a factor and without."""
    rest = () if two_dimensional else (2,)
    for dtype, dim, places, alpha in (
        (FLOAT, 0, INT32, 1.0),
        (FLOAT16, 1, INT64, 0.5),
        (BF16, -1, INT64, 2),
        (INT32, -2, INT32, 3),
        (BOOL, 0, INT64, True),
        (DOUBLE, 1, INT64, -1.5),
    ):
        if two_dimensional and (dim not in (0, -2) or dtype not in (FLOAT, INT32)):
            continue
        shape = [4, 3, *rest]
        source = shape.copy()
        source[dim] = 5
        yield {
            "self": numbers(tuple(shape), dtype, 1, 9),
            "dim": dim,
            "index": between(0, shape[dim], (5,), places, 2),
            "source": numbers(tuple(source), dtype, 3, 9),
            "alpha": alpha,
            "out": numbers(tuple(shape), dtype, 4),
        }
