"""aclnnBatchMatMul: the products of a batch of matrices."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Example, In, Operand, Out, Plan, Product, numbers, operator
from aclnnop.matmul.cube import ALL_LENIENT, BLOCKED, IN_BLOCKS, CubeMath, blocked_dtype, combined_dtype, product, rounding

Batch = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=3)]
BatchWeight = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=3, formats=BLOCKED)]
BatchOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=3)]


@operator(products=ALL - {Product.A310B})
def aclnnBatchMatMul(self: Batch, mat2: BatchWeight, out: BatchOut, cubeMathType: CubeMath) -> Plan:
    """Multiply the matrices of two batches, pair by pair; a batch of one goes with all of the other."""
    return product(self, mat2, out, rounding(cubeMathType, combined_dtype(self, mat2), ALL_LENIENT))


@aclnnBatchMatMul.example
def examples() -> Iterator[Example]:
    """Equal batches, and one of one; one type, and two."""
    for left, right, batches in ((FLOAT, FLOAT16, (3, 1)), (FLOAT16, FLOAT16, (3, 3)), (BF16, BF16, (1, 3))):
        yield {
            "self": numbers((batches[0], 4, 40), left, 1),
            "mat2": numbers((batches[1], 40, 5), right, 2),
            "out": numbers((3, 4, 5), left, 3),
            "cubeMathType": 1,
        }


NEWER = frozenset({Product.A950, Product.A3, Product.A2})


@operator(products=NEWER)
def aclnnBatchMatMulWeightNz(
    self: Annotated[Operand, In(FLOAT16, BF16, rank=3)],
    mat2: Annotated[Operand, In(FLOAT16, BF16, rank=3, formats=IN_BLOCKS)],
    out: Annotated[Operand, Out(FLOAT16, BF16, rank=3, on={Product.A950: (FLOAT16, BF16, FLOAT)})],
    cubeMathType: CubeMath,
) -> Plan:
    """Multiply the matrices of a batch by weights in blocks."""
    return product(self, mat2, out, blocked_dtype(cubeMathType, self, mat2, out))


@aclnnBatchMatMulWeightNz.example
def blocked_examples() -> Iterator[Example]:
    """Whole blocks: what fills up others would lie behind the tensor."""
    for dtype, count in ((FLOAT16, 2), (BF16, 1)):
        yield {
            "self": numbers((2, 7, 32), dtype, 1),
            "mat2": numbers((count, 32, 16), dtype, 2),
            "out": numbers((2, 7, 16), dtype, 3),
            "cubeMathType": 0,
        }
