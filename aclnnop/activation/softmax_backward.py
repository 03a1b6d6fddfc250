"""aclnnSoftmaxBackward: gradient of softmax, given its output."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT
from acl_emu.spec import ALL, Example, FloatIn, Int, Plan, Product, numbers, operator
from aclnnop.activation.along_axis import GRADIENT_CHECKS, AnyOut, gradient_plan, softmax_gradient


@operator(products=ALL - {Product.A310B}, checks=GRADIENT_CHECKS)
def aclnnSoftmaxBackward(gradOutput: FloatIn, output: FloatIn, dim: Int, out: AnyOut) -> Plan:
    """``gradOutput * output`` less ``output`` times its sum along ``dim``."""
    return gradient_plan(softmax_gradient, gradOutput, output, dim, out)


@aclnnSoftmaxBackward.example
def examples() -> Iterator[Example]:
    """The last axis."""
    for dtype, out in ((FLOAT, FLOAT), (BF16, DOUBLE)):
        yield {
            "gradOutput": numbers((3, 5, 7), dtype, 1),
            "output": np.abs(numbers((3, 5, 7), dtype, 2)),
            "dim": -1,
            "out": numbers((3, 5, 7), out, 3),
        }
