"""aclnnSwiGluGrad: the gradient of aclnnSwiGlu."""

from acl_emu.spec import Array, Int, Plan, Product, operator, same_dtype, same_shape
from aclnnop.activation.curves import swish, swish_slope
from aclnnop.activation.gated import examples, gated_gradient, result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.activation.swi_glu import Values, ValuesOut


@operator(products=NEWER | {Product.A310P})
def aclnnSwiGluGrad(yGrad: Values, x: Values, dim: Int, out: ValuesOut) -> Plan:
    """Give both halves along ``dim`` their gradients."""
    same_dtype(x, yGrad, out)
    axis = split_axis(x, dim)
    result_fits(x, axis, yGrad)
    same_shape(x, out)
    return gated_gradient(gradients, yGrad, x, axis, out)


aclnnSwiGluGrad.example(lambda: examples(aclnnSwiGluGrad, {"dim": -1}, {"dim": 1}))


def gradients(grad: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Of the gate, and of what it is the gate of."""
    return grad * swish_slope(a) * b, grad * swish(a)
