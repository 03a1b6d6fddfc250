"""aclnnScaledMaskedSoftmaxBackward: gradient of softmax of scaled and masked attention scores, given its output."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16
from acl_emu.spec import Array, Bool, Double, In, Operand, Out, Plan, Product, mapped, operator, same_dtype, same_shape
from aclnnop.activation.along_axis import softmax_gradient
from aclnnop.vfusion.masked_rows import mask_fits, masked_examples, not_generated, row_length

Scores = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=4)]
Mask = Annotated[Operand, In(BOOL, rank=4)]
ScoresOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=4)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnScaledMaskedSoftmaxBackward(gradOutput: Scores, y: Scores, mask: Mask, scale: Double, fixTriuMask: Bool, out: ScoresOut) -> Plan:
    """The gradient of softmax times ``scale``; 0 where ``mask`` is set."""
    same_dtype(gradOutput, y, out)
    not_generated(fixTriuMask)
    row_length(gradOutput)
    same_shape(gradOutput, y, out)
    mask_fits(mask, gradOutput)
    reads = (gradOutput, y, mask)
    return mapped(masked_gradient, reads=reads, writes=(out,), dtype=y.dtype, scale=scale)


aclnnScaledMaskedSoftmaxBackward.example(lambda: masked_examples("gradOutput", "y", out="out"))


def masked_gradient(grad: Array, output: Array, mask: Array, *, scale: float) -> Array:
    """The formula."""
    return np.where(mask, 0, softmax_gradient(grad, output, axis=-1) * scale)
