"""aclnnSoftmaxBackward: gradient of softmax, given its output."""

from acl_emu.spec import ALL, FloatIn, Int, Plan, Product, operator
from aclnnop.activation.along_axis import GRADIENT_CHECKS, AnyOut, gradient_plan, softmax_gradient


@operator(products=ALL - {Product.A310B}, checks=GRADIENT_CHECKS)
def aclnnSoftmaxBackward(gradOutput: FloatIn, output: FloatIn, dim: Int, out: AnyOut) -> Plan:
    """``gradOutput * output`` less ``output`` times its sum along ``dim``."""
    return gradient_plan(softmax_gradient, gradOutput, output, dim, out)
