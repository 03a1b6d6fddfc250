"""aclnnLogSoftmaxBackward: gradient of log softmax, given its output."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Example, FloatIn, Int, Plan, Product, numbers, operator
from aclnnop.activation.along_axis import GRADIENT_CHECKS, AnyOut, gradient_plan, log_softmax_gradient


@operator(products=ALL - {Product.A310B}, checks=GRADIENT_CHECKS)
def aclnnLogSoftmaxBackward(gradOutput: FloatIn, output: FloatIn, dim: Int, out: AnyOut) -> Plan:
    """Take the softmax-weighted sum of ``gradOutput`` along ``dim`` away from it."""
    return gradient_plan(log_softmax_gradient, gradOutput, output, dim, out)


@aclnnLogSoftmaxBackward.example
def examples() -> Iterator[Example]:
    """A middle axis."""
    for dtype, out in ((FLOAT, FLOAT), (BF16, FLOAT16)):
        yield {
            "gradOutput": numbers((3, 5, 7), dtype, 1),
            "output": -np.abs(numbers((3, 5, 7), dtype, 2)),
            "dim": 1,
            "out": numbers((3, 5, 7), out, 3),
        }
