"""aclnnLogSoftmax: logarithm of the softmax along one axis."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, In, Int, Operand, Out, Plan, Product, operator
from aclnnop.activation.along_axis import forward_examples, forward_plan, log_softmax

Values = Annotated[Operand, In(FLOAT16, FLOAT, DOUBLE, BF16)]
ValuesOut = Annotated[Operand, Out(FLOAT16, FLOAT, DOUBLE, BF16)]


@operator(products=ALL - {Product.A310B})
def aclnnLogSoftmax(self: Values, dim: Int, out: ValuesOut) -> Plan:
    """Log softmax of ``self`` along ``dim``."""
    return forward_plan(log_softmax, self, dim, out)


aclnnLogSoftmax.example(forward_examples)
