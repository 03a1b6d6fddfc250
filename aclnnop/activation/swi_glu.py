"""aclnnSwiGlu: one half of a tensor, gated by the other times its logistic function."""

from typing import Annotated

from acl_emu.spec import Array, In, Int, Operand, Out, Plan, Product, operator, same_dtype
from aclnnop.activation.curves import swish
from aclnnop.activation.gated import examples, gated, result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.math.unary import FLOATS

Values = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
ValuesOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8), const=True)]


@operator(products=NEWER | {Product.A310P})
def aclnnSwiGlu(x: Values, dim: Int, out: ValuesOut) -> Plan:
    """Multiply the swish of the first half along ``dim`` with the second."""
    same_dtype(x, out)
    axis = split_axis(x, dim)
    result_fits(x, axis, out)
    return gated(swiglu, x, axis, (out,))


aclnnSwiGlu.example(lambda: examples(aclnnSwiGlu, {"dim": -1}, {"dim": 1}))


def swiglu(a: Array, b: Array) -> Array:
    """The formula."""
    product: Array = swish(a) * b
    return product
