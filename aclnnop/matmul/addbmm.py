"""aclnnAddbmm and aclnnInplaceAddbmm: a matrix plus the sum of the products of two batches."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine import apply
from acl_emu.engine.matmul import Taken, matmul, weighted_sum
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Array, In, InOut, Operand, Plan, Product, direct, nothing, operator, shape_is
from aclnnop.matmul.batch_matmul import Batch
from aclnnop.matmul.cube import BatchFactor, CubeMath, MatrixOut, factor
from aclnnop.matmul.sums import checked, goes_with, sum_examples

PRODUCTS = ALL - {Product.A310B}
Added = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 2))]
SelfRef = Annotated[Operand, InOut(FLOAT, FLOAT16, BF16, rank=2, const=False)]


@operator(products=PRODUCTS)
def aclnnAddbmm(
    self: Added, batch1: Batch, batch2: Batch, beta: BatchFactor, alpha: BatchFactor, out: MatrixOut, cubeMathType: CubeMath
) -> Plan:
    """Add ``beta × self`` to ``alpha`` times the sum of the products of two batches of matrices."""
    return sum_of_products(self, batch1, batch2, beta, alpha, out, cubeMathType)


@operator(products=PRODUCTS)
def aclnnInplaceAddbmm(
    selfRef: SelfRef, batch1: Batch, batch2: Batch, beta: BatchFactor, alpha: BatchFactor, cubeMathType: CubeMath
) -> Plan:
    """Replace ``selfRef`` by ``beta`` times itself plus ``alpha`` times the sum of the products of two batches of matrices."""
    return sum_of_products(selfRef, batch1, batch2, beta, alpha, selfRef, cubeMathType)


def sum_of_products(added: Operand, batch1: Operand, batch2: Operand, beta: Scalar, alpha: Scalar, out: Operand, mode: int) -> Plan:
    """The plan of both; what is multiplied by 0 is not looked at."""
    taken, (count, *shape) = checked(added, batch1, batch2, out, mode)
    goes_with(added, tuple(shape))
    shape_is(out, tuple(shape), "that of a product of batch1 @ batch2")
    if 0 in shape:
        return nothing()
    return direct(
        add_up,
        reads=(batch1, batch2, added),
        writes=(out,),
        scratch={"total": (tuple(shape), np.float32)},
        count=count if factor(alpha) else 0,
        taken=taken,
        alpha=factor(alpha),
        beta=factor(beta),
    )


aclnnAddbmm.example(lambda: sum_examples("self", ((5,), (4, 5), (4, 1)), (4, 5)))
aclnnInplaceAddbmm.example(lambda: sum_examples("selfRef", ((),) * 3, (4, 5)))


def add_up(
    batch1: Array, batch2: Array, added: Array, out: Array, *, total: Array, count: int, taken: Taken, alpha: float, beta: float
) -> None:
    """The products in FLOAT, one after the other, and what is made of their sum."""
    total[...] = 0
    for index in range(count):
        left, right = (batch[index if len(batch) > 1 else 0] for batch in (batch1, batch2))
        matmul(left, right, total, add=True, taken=taken)
    other = added if beta else np.zeros(1, np.float32)
    apply(weighted_sum, (total, other), (out,), alpha=np.float32(alpha), beta=np.float32(beta))
