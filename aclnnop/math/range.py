"""aclnnRange: numbers from one to another, both included, in steps."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Example, HandleKind, Operand, Out, Plan, length_is, numbers, operator, require
from aclnnop.math.series import filled, real

Number = Annotated[Scalar, HandleKind(Scalar, FLOAT16, FLOAT, DOUBLE, UINT8, INT8, INT16, INT32, INT64, BOOL, BF16)]


@operator(products=ALL)
def aclnnRange(start: Number, end: Number, step: Number, out: Annotated[Operand, Out(FLOAT16, FLOAT, DOUBLE, BF16, INT32, INT64)]) -> Plan:
    """Write the numbers ``start``, ``start + step`` and so on up to ``end``."""
    first, last, gap = real(start, "start"), real(end, "end"), real(step, "step")
    if out.dtype.kind == "integer":
        first, last, gap = int(first), int(last), int(gap)
    require(gap != 0 and math.isfinite(gap), f"step is {gap}, expected a number other than 0")
    require(math.isfinite(first) and math.isfinite(last), f"start is {first} and end is {last}, expected finite numbers")
    require(last == first or (last > first) == (gap > 0), f"step is {gap}, which does not lead from {first} to {last}")
    count = int((last - first) // gap if isinstance(gap, int) else math.floor((last - first) / gap)) + 1
    if out.dtype.kind != "integer" and out.size == in_float(first, last, gap):
        count = out.size
    length_is(out, count, "the numbers from start to end")
    return filled(first + np.arange(count) * gap, out)


def in_float(first: float, last: float, gap: float) -> int:
    """How many numbers there are by single precision, in which programs are told to count; it may round the last one in."""
    begin, end, step = (np.float32(number) for number in (first, last, gap))
    with np.errstate(all="ignore"):
        steps = float((end - begin) / step)
    return math.floor(steps) + 1 if math.isfinite(steps) else 0


@aclnnRange.example
def examples() -> Iterator[Example]:
    """Up, down, and integers."""
    for dtype, start, end, step in ((FLOAT, 0.0, 3.0, 0.5), (BF16, 3.0, 0.0, -0.5), (INT64, 2, 14, 2)):
        yield {"start": start, "end": end, "step": step, "out": numbers((7,), dtype, 2)}
