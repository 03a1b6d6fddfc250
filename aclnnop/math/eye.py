"""aclnnEye: ones on the diagonal of a matrix, zeros elsewhere."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Example, Int, Operand, Out, Plan, direct, nothing, numbers, operator, require, shape_is
from aclnnop.conversion.moves import EVERY


@operator(products=EVERY)
def aclnnEye(n: Int, m: Int, out: Annotated[Operand, Out(FLOAT16, FLOAT, INT32, INT16, INT8, UINT8, INT64, BOOL, BF16, rank=2)]) -> Plan:
    """Fill ``out``, of ``n`` rows and ``m`` columns."""
    for name, value in (("n", n), ("m", m)):
        require(value >= 0, f"{name} is {value}, expected a value of at least 0")
    shape_is(out, (n, m), "n and m")
    return direct(fill, reads=(), writes=(out,), scratch={}) if out.size else nothing()


@aclnnEye.example
def examples() -> Iterator[Example]:
    """More columns than rows, and the other way round."""
    for dtype, n, m in ((FLOAT, 3, 4), (BF16, 4, 3), (BOOL, 2, 2)):
        yield {"n": n, "m": m, "out": numbers((n, m), dtype, 2)}


def fill(out: Array) -> None:
    """In place."""
    out[...] = 0
    places = np.arange(min(out.shape))
    out[places, places] = 1
