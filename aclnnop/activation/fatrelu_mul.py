"""aclnnFatreluMul: what reaches a threshold in one half of every row, times the other half."""

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, FloatIn, Plan, Product, length_is, mapped, numbers, operator, same_dtype
from aclnnop.activation.gated import parts, result_fits, split_axis
from aclnnop.activation.gelu_mul import Rows, RowsOut


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnFatreluMul(input: Rows, threshold: FloatIn, out: RowsOut) -> Plan:
    """Multiply the first half of every row, zero where it is below ``threshold``, with the second half."""
    same_dtype(input, threshold, out)
    length_is(threshold, 1, "one number")
    axis = split_axis(input, -1)
    result_fits(input, axis, out)
    reads = (*parts(input, axis), threshold)
    return mapped(product, reads=reads, writes=(out,), dtype=input.dtype)


@aclnnFatreluMul.example
def examples() -> list[Example]:
    """A threshold of one dimension, and of none."""
    calls = ((FLOAT, (1,)), (BF16, ()), (FLOAT16, (1,)))
    return [
        {"input": numbers((3, 4, 6), dtype, 1), "threshold": numbers(shape, dtype, 2), "out": numbers((3, 4, 3), dtype, 3)}
        for dtype, shape in calls
    ]


def product(gate: Array, linear: Array, threshold: Array) -> Array:
    """The formula: an element at the threshold stays."""
    return np.where(gate < threshold.reshape(()), 0, gate) * linear
