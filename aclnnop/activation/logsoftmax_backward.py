"""aclnnLogSoftmaxBackward: gradient of log softmax, given its output."""

from acl_emu.spec import ALL, FloatIn, Int, Plan, Product, operator
from aclnnop.activation.along_axis import GRADIENT_CHECKS, AnyOut, gradient_plan, log_softmax_gradient


@operator(products=ALL - {Product.A310B}, checks=GRADIENT_CHECKS)
def aclnnLogSoftmaxBackward(gradOutput: FloatIn, output: FloatIn, dim: Int, out: AnyOut) -> Plan:
    """Take the softmax-weighted sum of ``gradOutput`` along ``dim`` away from it."""
    return gradient_plan(log_softmax_gradient, gradOutput, output, dim, out)
