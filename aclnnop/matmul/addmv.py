"""aclnnAddmv: a vector plus the product of a matrix and a vector."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    broadcasts_to,
    castable,
    mapped,
    numbers,
    operator,
    promote,
    shape_is,
)
from aclnnop.matmul.cube import CubeMath, Factor, factor, planned, product_shape, rounding

FLOATS = (FLOAT, FLOAT16, BF16)
RESULTS = (*FLOATS, INT32, INT64, INT16, INT8, UINT8, DOUBLE)
TYPES = (*RESULTS, BOOL)


@operator(products=ALL - {Product.A310B})
def aclnnAddmv(
    self: Annotated[Operand, In(*TYPES, rank=1)],
    mat: Annotated[Operand, In(*TYPES, rank=2)],
    vec: Annotated[Operand, In(*TYPES, rank=1)],
    alpha: Factor,
    beta: Factor,
    out: Annotated[Operand, Out(*RESULTS, rank=1)],
    cubeMathType: CubeMath,
) -> Plan:
    """Add ``beta × self`` to ``alpha`` times the product of a matrix and a vector."""
    dtype = common_dtype(promote(self, mat, vec), alpha, beta)
    castable(dtype, out)
    taken = rounding(cubeMathType, dtype)
    shape = product_shape(mat, vec)
    if alpha.as_real():
        broadcasts_to(shape, "that of mat @ vec", self)
    else:
        shape_is(self, shape, "that of mat @ vec, as alpha is 0")
    shape_is(out, shape, "that of mat @ vec")
    if all(operand.dtype in FLOATS for operand in (self, mat, vec, out)):
        return planned(mat, vec, out, shape, taken, self.with_axis(1), factor(alpha), factor(beta))  # the product is a column
    computed = INT32 if dtype is BOOL else dtype  # truth values are counted
    factors = {name: scalar.converted(computed)[()] for name, scalar in (("alpha", alpha), ("beta", beta))}
    return mapped(sum_with_product, reads=(self, mat, vec.with_axis(0)), writes=(out,), dtype=computed, **factors)


def common_dtype(dtype: DType, *factors: Scalar) -> DType:
    """The type that everything is computed in: integers with a factor that is none become floating-point numbers."""
    for scalar in factors:
        if scalar.dtype.kind == "float" and dtype.kind != "float":
            dtype = dtypes.promote_types(dtype, scalar.dtype) or dtype
    return dtype


def sum_with_product(added: Array, matrix: Array, row: Array, *, alpha: float, beta: float) -> Array:
    """In one type."""
    wide = np.float64 if matrix.dtype.kind == "f" else matrix.dtype
    product = (matrix * row).sum(axis=1, dtype=wide).astype(matrix.dtype)
    total: Array = product * matrix.dtype.type(alpha) + added * matrix.dtype.type(beta)
    return total


@aclnnAddmv.example
def examples() -> Iterator[Example]:
    """Of floating-point and of integers; what is added broadcasts."""
    for dtype, length, alpha in ((FLOAT, 7, 1.5), (FLOAT16, 1, np.int64(2)), (INT32, 7, np.int64(3))):
        yield {
            "self": numbers((length,), dtype, 3, 9),
            "mat": numbers((7, 40), dtype, 1, 9),
            "vec": numbers((40,), dtype, 2, 9),
            "alpha": alpha,
            "beta": np.int32(2),
            "out": numbers((7,), dtype, 4),
            "cubeMathType": 1,
        }
