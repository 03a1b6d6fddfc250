"""aclnnGlu: one half of a tensor, gated by the logistic function of the other."""

from typing import Annotated

from acl_emu.core.dtypes import DOUBLE
from acl_emu.spec import ALL, Array, In, Int, Operand, Out, Plan, Product, castable, operator
from aclnnop.activation.curves import logistic
from aclnnop.activation.gated import examples, gated, result_fits, split_axis
from aclnnop.math.unary import FLOATS

REALS = (DOUBLE, *FLOATS)
RealIn = Annotated[Operand, In(*REALS, rank=(1, 8))]
RealOut = Annotated[Operand, Out(*REALS, rank=(1, 8), const=True)]


@operator(products=ALL - {Product.A310B})
def aclnnGlu(self: RealIn, dim: Int, out: RealOut) -> Plan:
    """Multiply the first half along ``dim`` with the logistic function of the second."""
    axis = split_axis(self, dim)
    result_fits(self, axis, out)
    castable(self.dtype, out)
    return gated(gate, self, axis, (out,), left=False)


aclnnGlu.example(lambda: examples(aclnnGlu, {"dim": -1}, {"dim": 1}, doubles=True))


def gate(b: Array, a: Array) -> Array:
    """The formula."""
    product: Array = a * logistic(b)
    return product
