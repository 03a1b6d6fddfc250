"""aclnnGlobalMaxPool: the largest element of each channel of each sample."""

from typing import Annotated

from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, In, Operand, Out, Plan, Product, operator
from aclnnop.math.global_pooling import RANKS, examples, largest, pooled

TYPES = (FLOAT, FLOAT16, DOUBLE)


@operator(products=ALL - {Product.A310B})
def aclnnGlobalMaxPool(self: Annotated[Operand, In(*TYPES, rank=RANKS)], out: Annotated[Operand, Out(*TYPES, rank=RANKS)]) -> Plan:
    """Take the largest element over all axes behind the first two."""
    return pooled(largest, self, out)


aclnnGlobalMaxPool.example(lambda: examples(TYPES))
