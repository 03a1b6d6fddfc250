"""aclnnBinaryCrossEntropy: cross entropy of a probability and its label."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnInnerNullptr
from acl_emu.spec import (
    ALL,
    Array,
    FloatOut,
    In,
    Operand,
    OptionalFloatIn,
    Plan,
    Product,
    ReductionMode,
    operator,
    same_dtype,
    same_shape,
)
from aclnnop.loss.reduction import loss, pointwise_examples, weighted

LOWEST_LOG = -100.0
"""The logarithm of 0 counts as this, so that a certain answer costs nothing when right and a finite loss when wrong."""


Values = Annotated[Operand, In(FLOAT, FLOAT16, BF16, null=AclnnInnerNullptr)]


@operator(products=ALL - {Product.A310B})
def aclnnBinaryCrossEntropy(self: Values, target: Values, weight: OptionalFloatIn, reduction: ReductionMode, out: FloatOut) -> Plan:
    """Weigh the logarithms of ``self`` and ``1 - self`` by ``target``."""
    same_dtype(self, target, weight, out)
    same_shape(self, target, *filter(None, [weight]))
    return loss(cross_entropy, (self, target, weight), out, reduction)


aclnnBinaryCrossEntropy.example(lambda: pointwise_examples(aclnnBinaryCrossEntropy, reduced=(1,), probabilities=("self", "target")))


def cross_entropy(x: Array, target: Array, weight: Array | None) -> Array:
    """The formula."""
    log_one = np.maximum(np.log(x), LOWEST_LOG)
    log_zero = np.maximum(np.log1p(-x), LOWEST_LOG)
    return weighted((target - 1) * log_zero - target * log_one, weight)
