"""aclnnNLLLoss: negative log likelihood of rows of log probabilities."""

from acl_emu.spec import ALL, CHOICE_LATER, FloatIn, FloatOut, Int, Plan, Product, operator, same_dtype
from aclnnop.loss.negative_log_likelihood import ROWS, Index, Mode, check_classes, check_reduced, loss_examples, plan_loss, single


@operator(products=ALL - {Product.A310B}, checks=CHOICE_LATER)
def aclnnNLLLoss(
    self: FloatIn, target: Index, weight: FloatIn, reduction: Mode, ignoreIndex: Int, out: FloatOut, totalWeightOut: FloatOut
) -> Plan:
    """Weigh and reduce what ``self`` holds at each row's target."""
    same_dtype(self, weight)
    check_classes(self, target, weight, ROWS)
    single(totalWeightOut)
    check_reduced(out, target, reduction)
    return plan_loss(self, target, weight, reduction, ignoreIndex, out, totalWeightOut)


aclnnNLLLoss.example(loss_examples)
