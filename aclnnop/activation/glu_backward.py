"""aclnnGluBackward: the gradient of aclnnGlu."""

from acl_emu.spec import ALL, Array, Int, Plan, Product, operator, same_dtype, same_shape
from aclnnop.activation.curves import logistic
from aclnnop.activation.gated import examples, gated_gradient, result_fits, split_axis
from aclnnop.activation.glu import RealIn, RealOut


@operator(products=ALL - {Product.A310B})
def aclnnGluBackward(gradOut: RealIn, self: RealIn, dim: Int, out: RealOut) -> Plan:
    """Give both halves along ``dim`` their gradients."""
    axis = split_axis(self, dim)
    same_shape(self, out)
    same_dtype(self, gradOut, out)
    result_fits(self, axis, gradOut)
    return gated_gradient(gradients, gradOut, self, axis, out, left=False)


aclnnGluBackward.example(lambda: examples(aclnnGluBackward, {"dim": -1}, {"dim": 1}, doubles=True))


def gradients(grad: Array, b: Array, a: Array) -> tuple[Array, Array]:
    """Of the gate, and of what it is the gate of."""
    share = grad * logistic(b)
    return share * a * logistic(-b), share
