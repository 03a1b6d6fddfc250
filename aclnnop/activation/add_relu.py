"""aclnnAddRelu and aclnnInplaceAddRelu: ``self + alpha * other``, or zero where that is negative."""

from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, HandleKind, In, Operand, Out, Plan, Product, in_place, operator
from aclnnop.activation.pointwise import NEWER
from aclnnop.math.arithmetic import combined, pair_examples, plus
from aclnnop.math.unary import FLOATS

TYPES = (*FLOATS, INT8, UINT8, INT16, INT32, INT64)


@operator(products=NEWER | {Product.A910})
def aclnnAddRelu(
    self: Annotated[Operand, In(*TYPES)],
    other: Annotated[Operand, In(*TYPES)],
    alpha: Annotated[Scalar, HandleKind(Scalar, const=False)],
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Add ``alpha`` times a tensor to a tensor, and replace what is negative by zero."""
    return combined(positive_sum, self, other, out, alpha)


aclnnInplaceAddRelu = in_place(aclnnAddRelu)
aclnnAddRelu.example(lambda: ({**one, "out": one["out"].astype(np.float32)} for one in pair_examples(aclnnAddRelu)))


def positive_sum(x: Array, y: Any, alpha: Any) -> Array:
    """The formula."""
    total = plus(x, y, alpha)
    return np.where(total <= 0, 0, total)
