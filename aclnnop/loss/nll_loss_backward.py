"""aclnnNLLLossBackward: gradient of the negative log likelihood loss of rows."""

from acl_emu.core.dtypes import FLOAT16
from acl_emu.spec import ALL, CHOICE_LATER, FloatIn, FloatOut, Int, Plan, Product, operator
from aclnnop.loss.negative_log_likelihood import ROWS, Index, Mode, gradient_examples, plan_gradient


@operator(products=ALL - {Product.A310B, Product.A310P}, checks=CHOICE_LATER)
def aclnnNLLLossBackward(
    gradOutput: FloatIn,
    self: FloatIn,
    target: Index,
    weight: FloatIn,
    reduction: Mode,
    ignoreIndex: Int,
    totalWeight: FloatIn,
    out: FloatOut,
) -> Plan:
    """Put ``-weight * gradOutput`` at the target class of every row."""
    return plan_gradient(gradOutput, self, target, weight, reduction, ignoreIndex, totalWeight, out, layouts=ROWS)


aclnnNLLLossBackward.example(lambda: gradient_examples(one=(), dtype=FLOAT16))
