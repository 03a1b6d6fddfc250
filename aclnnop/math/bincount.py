"""aclnnBincount: how often every integer occurs."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, between, direct, nothing, numbers, operator, require, same_shape
from aclnnop.math.conversion import converted
from aclnnop.math.reduction import NOT_310B


@operator(products=NOT_310B)
def aclnnBincount(
    self: Annotated[Operand, In(INT8, INT16, INT32, INT64, UINT8, rank=1)],
    weights: Annotated[Operand | None, In(FLOAT, FLOAT16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, BOOL, optional=True, rank=1)],
    minlength: Int,
    out: Annotated[Operand, Out(INT32, INT64, FLOAT, DOUBLE, rank=1)],
) -> Plan:
    """Count how often every number from 0 on occurs, or add up the ``weights`` of its occurrences."""
    if weights is not None:
        same_shape(self, weights)
    require(out.size >= minlength, f"out has {out.size} elements, expected at least minlength: {minlength}")
    return direct(count_numbers, reads=(self, weights), writes=(out,), scratch={}) if out.size else nothing()


@aclnnBincount.example
def examples() -> Iterator[Example]:
    """With and without weights."""
    for dtype, weight, out in ((INT64, FLOAT, FLOAT), (INT32, None, INT64), (UINT8, INT32, DOUBLE)):
        weights = None if weight is None else numbers((9,), weight, 2, 5)
        yield {"self": between(0, 5, (9,), dtype, 1), "weights": weights, "minlength": 4, "out": numbers((6,), out, 3)}


def count_numbers(values: Array, weights: Array | None, out: Array) -> None:
    """Sums in float64, of whole weights in int64, stored as by a cast."""
    if values.size and (values.min() < 0 or values.max() >= out.size):
        wrong = values.min() if values.min() < 0 else values.max()
        raise DeviceFault(f"self holds {wrong}, outside [0, {out.size - 1}], the elements of out")
    terms = np.ones(values.shape, np.int64) if weights is None else weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64)
    sums = np.zeros(out.size, terms.dtype)
    np.add.at(sums, values.astype(np.int64), terms)
    out[...] = converted(sums, dtypes.from_numpy(out.dtype)).reshape(out.shape)
