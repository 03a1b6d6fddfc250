"""aclnnIsClose: whether every pair of elements is nearly equal."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL
from acl_emu.spec import Array, Bool, Double, Example, In, Operand, Out, Plan, numbers, operator, promote, shape_is
from aclnnop.math.binary import NOT_310B, REAL_NUMBERS, applied, binary_examples, result_shape

RealIn = Annotated[Operand, In(*REAL_NUMBERS)]


@operator(products=NOT_310B)
def aclnnIsClose(self: RealIn, other: RealIn, rtol: Double, atol: Double, equalNan: Bool, out: Annotated[Operand, Out(BOOL)]) -> Plan:
    """Tell whether every pair of elements differs by at most ``atol`` plus ``rtol`` times the second one."""
    dtype = promote(self, other)
    shape_is(out, result_shape(self, other), "that of the result")
    is_whole = dtype.kind in ("integer", "bool")

    def close(x: Array, y: Array) -> Array:
        if is_whole:
            return within(np.abs(x.astype(np.int64) - y.astype(np.int64)), np.abs(y.astype(np.float64)))
        finite = (np.abs(x) < np.inf) & (np.abs(y) < np.inf)
        found: Array = (x == y) | (within(np.abs(x - y), np.abs(y)) & finite)
        return found | ((x != x) & (y != y)) if equalNan else found

    def within(difference: Array, magnitude: Array) -> Array:
        allowed: Array = difference <= atol + rtol * magnitude
        return allowed

    return applied(close, (self, other), dtype, out, is_truth=True)


@aclnnIsClose.example
def examples() -> Iterator[Example]:
    """Small numbers of several types, some of them near enough."""
    for number, example in enumerate(binary_examples(aclnnIsClose)):
        yield {**example, "rtol": 0.25, "atol": 0.5, "equalNan": number % 2 == 0, "out": numbers((3, 4, 5), BOOL, 3)}
