"""aclnnHistc: how many elements lie in each of equal intervals."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, ScalarIn, direct, length_is, numbers, operator, promote, require
from aclnnop.math.reduction import NOT_310B

TYPES = (FLOAT16, FLOAT, INT32, INT64, INT16, INT8, UINT8)


@operator(products=NOT_310B)
def aclnnHistc(
    self: Annotated[Operand, In(*TYPES)],
    bins: Int,
    min: ScalarIn,
    max: ScalarIn,
    out: Annotated[Operand, Out(*TYPES, rank=1)],
) -> Plan:
    """Count the elements in ``bins`` equal intervals from ``min`` to ``max``, or between the extremes where these are equal."""
    promote(self, out)
    require(bins > 0, f"bins is {bins}, expected a value of at least 1")
    low, high = (float(np.float32(limit.as_real())) for limit in (min, max))
    require(low <= high, f"min is {low}, expected at most max: {high}")
    length_is(out, bins, "bins")
    return direct(count_in_bins, reads=(self,), writes=(out,), scratch={}, low=low, high=high)


@aclnnHistc.example
def examples() -> Iterator[Example]:
    """Given limits, and those of the data."""
    for dtype, low, high in ((FLOAT, -2.0, 2.5), (INT32, 0.0, 0.0), (FLOAT16, -1, 1)):
        yield {"self": numbers((3, 4, 5), dtype, 1, 2), "bins": 4, "min": low, "max": high, "out": numbers((4,), dtype, 2)}


def count_in_bins(values: Array, out: Array, *, low: float, high: float) -> None:
    """The upper limit belongs to the last interval. Numbers outside, and NaN, are not counted."""
    numbers = values.reshape(-1).astype(np.float64)
    if low == high and numbers.size:
        low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        low, high = low - 1, high + 1
    bins = out.size
    inside = numbers[(numbers >= low) & (numbers <= high)]
    places = np.minimum(np.floor((inside - low) / (high - low) * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins).reshape(out.shape)
    out[...] = dtypes.round_to(counts, dtypes.from_numpy(out.dtype))
