"""aclnnGlobalAveragePool: the mean of each channel of each sample."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, In, Operand, Out, Plan, Product, operator
from aclnnop.math.global_pooling import RANKS, examples, mean, pooled

TYPES = (FLOAT, FLOAT16, DOUBLE, BF16)
ON = dict.fromkeys((Product.A910, Product.A310P), TYPES[:3])


@operator(products=ALL - {Product.A310B})
def aclnnGlobalAveragePool(
    self: Annotated[Operand, In(*TYPES, rank=RANKS, on=ON)], out: Annotated[Operand, Out(*TYPES, rank=RANKS, on=ON)]
) -> Plan:
    """Take the mean over all axes behind the first two."""
    return pooled(mean, self, out)


aclnnGlobalAveragePool.example(lambda: examples((FLOAT, FLOAT16, BF16)))
