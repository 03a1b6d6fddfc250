"""aclnnArange: numbers that are a step apart."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT32, INT64, DType
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Array, Example, HandleKind, Operand, Out, Plan, Product, direct, nothing, numbers, operator, require
from aclnnop.math.arithmetic import REALS
from aclnnop.math.conversion import converted

Number = Annotated[Scalar, HandleKind(Scalar, *REALS)]


@operator(products=ALL - {Product.A310B})
def aclnnArange(start: Number, end: Number, step: Number, out: Annotated[Operand, Out(FLOAT16, FLOAT, DOUBLE, INT32, INT64, BF16)]) -> Plan:
    """Write ``start``, ``start + step``, … as many as ``out`` has elements."""
    first, last, distance = (float(scalar.value) for scalar in (start, end, step))
    require(distance != 0, f"step is {distance}, expected another number than 0")
    require(
        (last - first) * distance >= 0,
        f"start is {first}, end is {last}, step is {distance}, expected an end that steps from start on come to",
    )
    if 0 in out.shape:
        return nothing()
    wide = INT64 if out.dtype.kind == "integer" else DOUBLE
    begin, by = (converted(np.asarray(scalar.value), wide)[()] for scalar in (start, step))
    return direct(count, reads=(), writes=(out,), scratch={}, begin=begin, by=by, dtype=out.dtype)


@aclnnArange.example
def examples() -> Iterator[Example]:
    """Up and down, integers and others."""
    for dtype, start, end, step in ((FLOAT, 1.0, 5.0, 1.0), (INT64, 0, 7, 2), (BF16, 4.0, -2.0, -1.5)):
        yield {"start": start, "end": end, "step": step, "out": numbers((4,), dtype, 1)}


def count(target: Array, *, begin: Any, by: Any, dtype: DType) -> None:
    """Each from its number, rounded once: what ``start + step + step`` loses on the way is not lost here."""
    target[...] = dtypes.round_to((begin + by * np.arange(target.size)).reshape(target.shape), dtype)
