"""aclnnRmsNormQuant: rows divided by the root of their mean square, scaled and shifted, and quantised with a given scale."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, INT4, INT8, INT32, DType
from acl_emu.spec import (
    ALL,
    Array,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.quantising import EIGHT_BITS, HALVES, quantised_shape, rms_rows, store, types_in, wide, with_scale
from aclnnop.norm.rows import LEAST_ROW

OLDER = (Product.A310P, Product.A310B)
NEWER = (Product.A2, Product.A3)
ON_ROWS = dict.fromkeys(OLDER, (FLOAT16,)) | dict.fromkeys(NEWER, HALVES)
ON_RESULTS = dict.fromkeys((*OLDER, *NEWER), (INT8, INT4))
Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8), on=ON_ROWS)]
Factor = Annotated[Operand, In(*FLOATS, rank=(1, 2), on=ON_ROWS)]
Scale = Annotated[Operand, In(*FLOATS, rank=1, on=ON_ROWS)]
Offset = Annotated[Operand, In(*FLOATS, INT8, INT32, rank=1, on=dict.fromkeys((*OLDER, *NEWER), (INT8,)))]
QuantisedOut = Annotated[Operand, Out(INT32, INT4, *EIGHT_BITS, rank=(1, 8), on=ON_RESULTS)]

COMBINED: dict[Product, tuple[tuple[DType, DType, DType], ...]] = {
    **dict.fromkeys(OLDER, ((FLOAT16, FLOAT16, INT8),)),
    **dict.fromkeys(NEWER, ((FLOAT16, FLOAT16, INT8), (BF16, BF16, INT8))),
    Product.A950: (
        (FLOAT16, FLOAT16, INT8),
        (BF16, BF16, INT8),
        (FLOAT16, FLOAT16, FLOAT16),
        (BF16, BF16, BF16),
        (FLOAT, FLOAT, FLOAT),
        (FLOAT16, FLOAT, INT32),
        (BF16, FLOAT, INT32),
        (FLOAT16, FLOAT, FLOAT),
        (BF16, FLOAT, FLOAT),
    ),
}
"""Types of rows, scale and offset that go together."""


@operator(products=ALL - {Product.A910})
def aclnnRmsNormQuant(x: Rows, gamma: Factor, beta: Factor, scale: Scale, offset: Offset, epsilon: Double, y: QuantisedOut) -> Plan:
    """Divide each row by the root of its mean square, scale and shift it; divide by ``scale`` and add ``offset``."""
    return quantised_rows(x, gamma, beta, scale, offset, epsilon, y, None, product=soc.current().product, divides=True)


def quantised_rows(
    x: Operand,
    gamma: Operand,
    beta: Operand | None,
    scale: Operand,
    offset: Operand | None,
    epsilon: float,
    y: Operand,
    rstd: Operand | None,
    *,
    product: Product,
    divides: bool,
) -> Plan:
    """The plan of all versions; ``product``: whose rules hold."""
    same_dtype(x, gamma, beta)
    if product in COMBINED:
        types_in(COMBINED, product, x=x, scale=scale, offset=offset)
    for operand in filter(None, (x, gamma, beta, scale, offset, y, rstd)):
        require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no length of 0")
    length = x.shape[-1]
    for factor in filter(None, (gamma, beta)):
        fitting = factor.shape in ((length,), (1, length))
        require(fitting, f"{factor.name} has shape {list(factor.shape)}, expected {[length]} or {[1, length]}")
    one_for_all = product is not Product.A950
    require(
        scale.size in ((1,) if one_for_all else (1, length)),
        f"scale has {scale.size} elements, expected 1{'' if one_for_all else f' or {length}'}",
    )
    if offset is not None:
        same_shape(scale, offset)
    quantised_shape(x, y)
    size = length * x.dtype.storage.itemsize
    require(product is not Product.A310P or size >= LEAST_ROW, f"x has rows of {size} bytes, expected at least {LEAST_ROW}")
    if rstd is not None:
        kept = (*x.shape[:-1], 1)
        require(rstd.shape == kept or (x.rank == 1 and rstd.size == 1), f"rstd has shape {list(rstd.shape)}, expected {list(kept)}")
    target = y.dtype

    def kernel(x: Array, gamma: Array, beta: Array | None, scale: Array, offset: Array | None, y: Array, factors: Array | None) -> None:
        shift = None if beta is None else wide(beta).reshape(-1)
        values, _, found = rms_rows(wide(x), wide(gamma).reshape(-1), shift, (-1,), epsilon)
        store(y, with_scale(values, wide(scale), wide(offset), divides=divides), target)
        if factors is not None:
            factors[...] = found.reshape(factors.shape)

    return direct(kernel, reads=(x, gamma, beta, scale, offset), writes=(y, rstd), scratch={})


def call(dtype: DType, scale: DType, offset: DType, target: DType, count: int = 1) -> Example:
    """One of shape 2, 3, 16."""
    columns = 2 if target is INT32 else 16
    return {
        "x": numbers((2, 3, 16), dtype, 1),
        "gamma": numbers((1, 16), dtype, 2),
        "beta": numbers((16,), dtype, 3),
        "scale": np.abs(numbers((count,), scale, 4)) + scale.numpy.type(0.1),
        "offset": numbers((count,), offset, 5, 3),
        "epsilon": 1e-6,
        "y": np.zeros((2, 3, columns), target.numpy),
    }


aclnnRmsNormQuant.example(lambda: [call(FLOAT16, FLOAT16, INT8, INT8)])
aclnnRmsNormQuant.example_on(*NEWER, Product.A950)(lambda: [call(BF16, BF16, INT8, INT8)])


@aclnnRmsNormQuant.example_on(Product.A950)
def newest_examples() -> Iterator[Example]:
    """Other types, and a scale for each column."""
    yield call(FLOAT, FLOAT, FLOAT, FLOAT8_E4M3FN, 16)
    yield call(BF16, FLOAT, INT32, INT32)
