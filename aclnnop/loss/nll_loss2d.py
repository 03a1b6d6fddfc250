"""aclnnNLLLoss2d: negative log likelihood of images of log probabilities."""

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import ALL, CHOICE_LATER, FloatIn, FloatOut, Int, Plan, Product, operator, same_dtype
from aclnnop.loss.negative_log_likelihood import IMAGES, Index, Mode, check_classes, check_reduced, loss_examples, plan_loss, single


@operator(products=ALL - {Product.A310B}, checks=CHOICE_LATER)
def aclnnNLLLoss2d(
    self: FloatIn, target: Index, weight: FloatIn, reduction: Mode, ignoreIndex: Int, out: FloatOut, totalWeightOut: FloatOut
) -> Plan:
    """Weigh and reduce what ``self`` holds at each pixel's target."""
    same_dtype(self, weight)
    for result in (out, totalWeightOut):
        if (self.dtype, result.dtype) != (FLOAT, FLOAT16):
            same_dtype(self, result)
    check_classes(self, target, weight, IMAGES)
    single(totalWeightOut)
    check_reduced(out, target, reduction)
    return plan_loss(self, target, weight, reduction, ignoreIndex, out, totalWeightOut)


aclnnNLLLoss2d.example(lambda: loss_examples(3, 4))
