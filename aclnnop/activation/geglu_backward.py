"""aclnnGeGluBackward and aclnnGeGluV3Backward: the gradients of aclnnGeGlu and aclnnGeGluV3."""

from typing import Annotated

from acl_emu.core import soc
from acl_emu.spec import Array, Bool, In, Int, Operand, Out, Plan, Product, operator, require, same_dtype, same_shape
from aclnnop.activation.curves import GELU_SLOPE
from aclnnop.activation.gated import examples, gated_gradient, result_fits, split_axis
from aclnnop.activation.geglu import PRODUCTS, TANH
from aclnnop.math.unary import FLOATS

Values = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
ValuesOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8))]


@operator(products=PRODUCTS)
def aclnnGeGluBackward(gradOutput: Values, self: Values, gelu: Values, dim: Int, approximate: Int, gradInput: ValuesOut) -> Plan:
    """Give both halves along ``dim`` their gradients; ``gelu`` is the unit of the second."""
    return through_gate(gradOutput, self, gelu, dim, approximate, gradInput, left=False)


@operator(products=PRODUCTS)
def aclnnGeGluV3Backward(
    gradOutput: Values, self: Values, gelu: Values, dim: Int, approximate: Int, activateLeft: Bool, gradInput: ValuesOut
) -> Plan:
    """Give both halves along ``dim`` their gradients; ``gelu`` is the unit of one of them."""
    return through_gate(gradOutput, self, gelu, dim, approximate, gradInput, left=activateLeft)


aclnnGeGluBackward.example(lambda: examples(aclnnGeGluBackward, {"dim": -1, "approximate": 1}, {"dim": 1, "approximate": 1}))
aclnnGeGluV3Backward.example(
    lambda: examples(
        aclnnGeGluV3Backward, {"dim": -1, "approximate": 1, "activateLeft": True}, {"dim": 1, "approximate": 1, "activateLeft": False}
    )
)


def through_gate(grad: Operand, self: Operand, gelu: Operand, dim: int, approximate: int, out: Operand, *, left: bool) -> Plan:
    """The plan of both."""
    same_dtype(self, grad, gelu, out)
    axis = split_axis(self, dim)
    result_fits(self, axis, grad, gelu)
    same_shape(self, out)
    least = TANH if soc.current().product is Product.A310P else 0
    require(least <= approximate <= TANH, f"approximate is {approximate}, expected {'0 (none) or ' if least == 0 else ''}1 (tanh)")
    slope = GELU_SLOPE[approximate == TANH]

    def kernel(grad: Array, gate: Array, linear: Array, opened: Array) -> tuple[Array, Array]:
        return grad * linear * slope(gate), grad * opened

    return gated_gradient(kernel, grad, self, axis, out, gelu, left=left)
