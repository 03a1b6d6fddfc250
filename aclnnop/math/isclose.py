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
        same, first, second = x == y, x.astype(np.float64) if is_whole else x, y.astype(np.float64) if is_whole else y
        near = np.abs(first - second) <= atol + rtol * np.abs(second)
        found: Array = same | (near & (np.abs(first) < np.inf) & (np.abs(second) < np.inf))
        return found | ((x != x) & (y != y)) if equalNan else found

    return applied(close, (self, other), dtype, out, wide=True, is_truth=True)


@aclnnIsClose.example
def examples() -> Iterator[Example]:
    """Small numbers of several types, some of them near enough."""
    for number, example in enumerate(binary_examples(aclnnIsClose)):
        yield {**example, "rtol": 0.25, "atol": 0.5, "equalNan": number % 2 == 0, "out": numbers((3, 4, 5), BOOL, 3)}
