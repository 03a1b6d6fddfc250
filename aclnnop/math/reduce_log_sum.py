"""aclnnReduceLogSum: logarithms of sums along some dimensions."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Array, Bool, In, IntArrayIn, Operand, Out, Plan, Product, between, operator, same_dtype
from aclnnop.math.reduction import FLOATS, NEWER, reduced, reduced_axes, reduction_examples, sum_along, unreduced

TYPES = {Product.A950: FLOATS}


@operator(products=NEWER | {Product.A310P})
def aclnnReduceLogSum(
    data: Annotated[Operand, In(FLOAT, FLOAT16, on=TYPES)],
    axes: IntArrayIn,
    keepDims: Bool,
    noopWithEmptyAxes: Bool,
    reduce: Annotated[Operand, Out(FLOAT, FLOAT16, on=TYPES)],
) -> Plan:
    """Take the logarithm of the sum of every slice along ``axes``; without any, ``noopWithEmptyAxes`` copies ``data``."""
    same_dtype(data, reduce)
    along = reduced_axes(axes, data, "axes")
    if noopWithEmptyAxes and not axes.values:
        return unreduced(data, reduce)
    return reduced(log_sum, data, along, keepDims, reduce, dtype=data.dtype, of_none=float("-inf"))


aclnnReduceLogSum.example(
    lambda: reduction_examples(aclnnReduceLogSum, noopWithEmptyAxes=(False,), data=(between(0.1, 3, (3, 4, 5), FLOAT, 1),))
)


def log_sum(values: Array, *, axes: tuple[int, ...]) -> Array:
    """The logarithm of the exact sum."""
    found: Array = np.log(sum_along(values, axes=axes))
    return found
