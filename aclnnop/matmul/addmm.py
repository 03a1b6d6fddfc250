"""aclnnAddmm and aclnnInplaceAddmm: a matrix plus the product of two."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine.matmul import Taken
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Example, In, InOut, Operand, Plan, Product, nothing, numbers, operator, promote, require
from aclnnop.matmul.cube import (
    IN_BLOCKS,
    CubeMath,
    Factor,
    Matrix,
    MatrixOut,
    Weight,
    blocked_dtype,
    factor,
    product,
    product_shape,
    rounding,
    without_precise_sums,
)

PRODUCTS = ALL - {Product.A310B}
Added = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(0, 2))]
SelfRef = Annotated[Operand, InOut(FLOAT, FLOAT16, BF16, rank=2)]


@operator(products=PRODUCTS)
def aclnnAddmm(self: Added, mat1: Matrix, mat2: Weight, beta: Factor, alpha: Factor, out: MatrixOut, cubeMathType: CubeMath) -> Plan:
    """Add ``beta × self`` to ``alpha`` times the product of two matrices."""
    require(len(self.view.storage) > 0, "self has a storage shape without dimensions, expected at least one")
    return sum_with_product(self, mat1, mat2, beta, alpha, out, cubeMathType)


@operator(products=PRODUCTS)
def aclnnInplaceAddmm(selfRef: SelfRef, mat1: Matrix, mat2: Weight, beta: Factor, alpha: Factor, cubeMathType: CubeMath) -> Plan:
    """Replace ``selfRef`` by ``beta`` times itself plus ``alpha`` times the product of two matrices."""
    return sum_with_product(selfRef, mat1, mat2, beta, alpha, selfRef, cubeMathType)


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnAddmmWeightNz(
    self: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 2))],
    mat1: Annotated[Operand, In(FLOAT16, BF16, rank=2)],
    mat2: Annotated[Operand, In(FLOAT16, BF16, rank=2, formats=IN_BLOCKS)],
    beta: Factor,
    alpha: Factor,
    out: MatrixOut,
    cubeMathType: CubeMath,
) -> Plan:
    """Add ``beta × self`` to ``alpha`` times the product of a matrix and a weight in blocks."""
    return added_product(self, mat1, mat2, beta, alpha, out, blocked_dtype(cubeMathType, mat1, mat2, out))


@aclnnAddmmWeightNz.example
def blocked_examples() -> Iterator[Example]:
    """Whole blocks: what fills up others would lie behind the tensor."""
    for dtype, shape in ((FLOAT16, (16,)), (BF16, (7, 16))):
        yield {
            "self": numbers(shape, dtype, 3),
            "mat1": numbers((7, 32), dtype, 1),
            "mat2": numbers((32, 16), dtype, 2),
            "beta": 0.5,
            "alpha": np.int64(2),
            "out": numbers((7, 16), dtype, 4),
            "cubeMathType": 0,
        }


def examples_of(in_place: bool) -> Iterator[Example]:
    """What is added broadcasts, unless it is changed in place."""
    for dtype, shape in ((FLOAT, (9,)), (FLOAT16, (7, 1))):
        added = numbers((7, 9) if in_place else shape, dtype, 3)
        yield {
            **({"selfRef": added} if in_place else {"self": added, "out": numbers((7, 9), dtype, 4)}),
            "mat1": numbers((7, 40), dtype, 1),
            "mat2": numbers((40, 9), dtype, 2),
            "beta": 0.5,
            "alpha": np.int64(2),
            "cubeMathType": 1,
        }


aclnnAddmm.example(lambda: examples_of(in_place=False))
aclnnInplaceAddmm.example(lambda: examples_of(in_place=True))


def sum_with_product(added: Operand, mat1: Operand, mat2: Operand, beta: Scalar, alpha: Scalar, out: Operand, mode: int) -> Plan:
    """The plan of both; ``added`` broadcasts to the product."""
    taken = rounding(mode, promote(mat1, mat2))
    without_precise_sums(mode)
    return added_product(added, mat1, mat2, beta, alpha, out, taken)


def added_product(added: Operand, mat1: Operand, mat2: Operand, beta: Scalar, alpha: Scalar, out: Operand, taken: Taken) -> Plan:
    """The same, once it is known what the factors are rounded to."""
    shape = product_shape(mat1, mat2)
    if out.shape != shape and any(0 in operand.shape for operand in (added, mat1, mat2)):
        return nothing()
    fits = all(length in (1, wanted) for length, wanted in zip(reversed(added.shape), reversed(shape), strict=False))
    require(fits, f"{added.name} has shape {list(added.shape)}, which does not broadcast to that of mat1 @ mat2: {list(shape)}")
    return product(mat1, mat2, out, taken, added, factor(alpha), factor(beta))
