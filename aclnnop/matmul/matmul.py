"""aclnnMatmul: products of vectors, matrices and batches of matrices."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnInnerNullptr, AclnnInvalid
from acl_emu.engine.matmul import Taken
from acl_emu.spec import ALL, Example, In, Operand, Out, Plan, Product, numbers, operator
from aclnnop.matmul.cube import (
    BLOCKED,
    IN_BLOCKS,
    CubeMath,
    MatrixOut,
    blocked_dtype,
    combined_dtype,
    planned,
    product,
    product_shape,
    rounding,
)

Stack = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 6))]
Weights = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 6), formats=BLOCKED)]
StackOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=(0, 6))]


@operator(products=ALL - {Product.A310B})
def aclnnMatmul(self: Stack, mat2: Weights, out: StackOut, cubeMathType: CubeMath) -> Plan:
    """Multiply vectors or matrices, batch by batch."""
    dtype = combined_dtype(self, mat2)
    # Of two vectors the matrix unit does not see anything.
    taken = Taken.UNCHANGED if self.rank == mat2.rank == 1 else rounding(cubeMathType, dtype)
    shape = product_shape(self, mat2)
    if out.size != math.prod(shape):
        text = f"out has shape {list(out.shape)}, expected as many elements as that of self @ mat2: {list(shape)}"
        if soc.current().product is Product.A950:
            raise AclnnInnerNullptr(text)
        raise AclnnInvalid(text)
    return planned(self, mat2, out, shape, taken)


@aclnnMatmul.example
def examples() -> Iterator[Example]:
    """Stacks that broadcast, a vector, and matrices of several blocks."""
    for a, b, shape, dtype, out in (
        ((2, 1, 3, 40), (4, 40, 5), (2, 4, 3, 5), FLOAT, FLOAT),
        ((40,), (40, 5), (5,), FLOAT16, FLOAT),
        ((300, 200), (200, 280), (300, 280), BF16, BF16),
    ):
        yield {"self": numbers(a, dtype, 1), "mat2": numbers(b, dtype, 2), "out": numbers(shape, out, 3), "cubeMathType": 1}


NZ_TYPES = {Product.A950: (FLOAT16, BF16)}


@operator(products=frozenset({Product.A950, Product.A3, Product.A2, Product.A310P}))
def aclnnMatmulWeightNz(
    self: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2, on=NZ_TYPES)],
    mat2: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2, formats=IN_BLOCKS, on=NZ_TYPES)],
    out: MatrixOut,
    cubeMathType: CubeMath,
) -> Plan:
    """Multiply a matrix by a weight in blocks."""
    return product(self, mat2, out, blocked_dtype(cubeMathType, self, mat2, out))


@aclnnMatmulWeightNz.example
def blocked_examples() -> Iterator[Example]:
    """Whole blocks: what fills up others would lie behind the tensor."""
    for dtype in (FLOAT16, BF16):
        yield {
            "self": numbers((7, 32), dtype, 1),
            "mat2": numbers((32, 48), dtype, 2),
            "out": numbers((7, 48), dtype, 3),
            "cubeMathType": 0,
        }
