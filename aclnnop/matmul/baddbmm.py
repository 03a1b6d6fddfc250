"""aclnnBaddbmm and aclnnInplaceBaddbmm: a batch of matrices plus the products of two batches."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, In, InOut, Operand, Plan, Product, operator, require, shape_is
from aclnnop.matmul.batch_matmul import Batch, BatchOut
from aclnnop.matmul.cube import BatchFactor, CubeMath, factor, planned
from aclnnop.matmul.sums import checked, goes_with, sum_examples

PRODUCTS = ALL - {Product.A310B}
Added = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 3))]
SelfRef = Annotated[Operand, InOut(FLOAT, FLOAT16, BF16, rank=(2, 3))]


@operator(products=PRODUCTS)
def aclnnBaddbmm(
    self: Added, batch1: Batch, batch2: Batch, beta: BatchFactor, alpha: BatchFactor, out: BatchOut, cubeMathType: CubeMath
) -> Plan:
    """Add ``beta × self`` to ``alpha`` times the products of two batches of matrices."""
    return sum_with_products(self, batch1, batch2, beta, alpha, out, cubeMathType)


@operator(products=PRODUCTS)
def aclnnInplaceBaddbmm(
    selfRef: SelfRef, batch1: Batch, batch2: Batch, beta: BatchFactor, alpha: BatchFactor, cubeMathType: CubeMath
) -> Plan:
    """Replace ``selfRef`` by ``beta`` times itself plus ``alpha`` times the products of two batches of matrices."""
    require(
        batch1.shape[0] == batch2.shape[0],
        f"batch2 has shape {list(batch2.shape)}, expected as many matrices as batch1 of shape {list(batch1.shape)}",
    )
    changed = selfRef if selfRef.rank > 2 else selfRef.with_axis(0)
    return sum_with_products(changed, batch1, batch2, beta, alpha, changed, cubeMathType)


def sum_with_products(added: Operand, batch1: Operand, batch2: Operand, beta: Scalar, alpha: Scalar, out: Operand, mode: int) -> Plan:
    """The plan of both; where ``beta`` is 0, what would be added is not looked at."""
    taken, shape = checked(added, batch1, batch2, out, mode)
    goes_with(added, shape)
    shape_is(out, shape, "that of batch1 @ batch2")
    return planned(batch1, batch2, out, shape, taken, added if factor(beta) else None, factor(alpha), factor(beta))


aclnnBaddbmm.example(lambda: sum_examples("self", ((5,), (2, 4, 5), (2, 1, 1)), (2, 4, 5)))
aclnnInplaceBaddbmm.example(lambda: sum_examples("selfRef", ((),) * 3, (2, 4, 5)))
