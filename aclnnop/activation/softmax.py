"""aclnnSoftmax: exponentials along one axis, over their sum."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import In, Int, Operand, Out, Plan, Product, operator
from aclnnop.activation.along_axis import forward_examples, forward_plan, softmax

ON_310B = {Product.A310B: (FLOAT16, FLOAT, DOUBLE)}
Values = Annotated[Operand, In(FLOAT16, FLOAT, DOUBLE, BF16, on=ON_310B)]
ValuesOut = Annotated[Operand, Out(FLOAT16, FLOAT, DOUBLE, BF16, on=ON_310B)]


@operator()
def aclnnSoftmax(self: Values, dim: Int, out: ValuesOut) -> Plan:
    """Softmax of ``self`` along ``dim``."""
    return forward_plan(softmax, self, dim, out)


aclnnSoftmax.example(forward_examples)
