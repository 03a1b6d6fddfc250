"""aclnnL1Loss: absolute difference of each pair of elements."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT64
from acl_emu.spec import ALL, Array, In, Operand, Out, Plan, Product, Reduction, ReductionMode, castable, operator, promote, require
from aclnnop.loss.reduction import loss, pointwise_examples

NumberIn = Annotated[Operand, In(FLOAT, FLOAT16, BF16, INT64)]
NumberOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, INT64)]


@operator(products=ALL - {Product.A310B})
def aclnnL1Loss(self: NumberIn, target: NumberIn, reduction: ReductionMode, out: NumberOut) -> Plan:
    """Take the absolute value of ``self - target``."""
    via = promote(self, target)
    castable(via, out)
    if reduction == Reduction.NONE and self.dtype is INT64:
        require(target.dtype is INT64, f"target has dtype {target.dtype}, expected an integer as self when nothing is reduced")
    if reduction == Reduction.MEAN:
        require(via is not INT64, f"self has dtype {self.dtype}, expected a floating-point self or target for a mean")
    return loss(distance, (self, target), out, reduction)


aclnnL1Loss.example(lambda: pointwise_examples(aclnnL1Loss, reduced=()))


def distance(x: Array, y: Array) -> Array:
    """The formula."""
    distances: Array = np.abs(x - y)
    return distances
