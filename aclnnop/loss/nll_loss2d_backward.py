"""aclnnNLLLoss2dBackward: gradient of the negative log likelihood loss of images."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, CHOICE_LATER, FloatIn, FloatOut, In, Int, Operand, Plan, Product, operator
from aclnnop.loss.negative_log_likelihood import IMAGES, Index, Mode, gradient_examples, plan_gradient

Total = Annotated[Operand, In(FLOAT, FLOAT16, BF16, const=False)]


@operator(products=ALL - {Product.A310B, Product.A310P}, checks=CHOICE_LATER)
def aclnnNLLLoss2dBackward(
    gradOutput: FloatIn, self: FloatIn, target: Index, weight: FloatIn, reduction: Mode, ignoreIndex: Int, totalWeight: Total, out: FloatOut
) -> Plan:
    """Put ``-weight * gradOutput`` at the target class of every pixel."""
    return plan_gradient(gradOutput, self, target, weight, reduction, ignoreIndex, totalWeight, out, layouts=IMAGES)


aclnnNLLLoss2dBackward.example(lambda: gradient_examples(3, 4, one=(1,), dtype=BF16))
