"""aclnnAddRmsNormQuant: the rows of a sum, divided by the root of their mean square, and quantised with given scales, once or twice."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, INT8, INT32, DType
from acl_emu.core.soc import ALL, Product
from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.mean_square import ends_with
from aclnnop.norm.quantising import ROWS_WITH_SCALES, Quantised, rms_rows, store, types_in, wide, with_scale
from aclnnop.norm.rms_norm import long_enough

PRODUCTS = ALL - {Product.A310B, Product.A910}
HALVES = dict.fromkeys((Product.A2, Product.A3), (FLOAT16, BF16)) | {Product.A310P: (FLOAT16,)}
SCALES = dict.fromkeys((Product.A2, Product.A3), (FLOAT, BF16)) | {Product.A310P: (FLOAT,)}
POINTS = dict.fromkeys((Product.A2, Product.A3), (INT32, BF16)) | {Product.A310P: (INT32,)}
Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8), on=HALVES)]
OptionalRows = Annotated[Operand | None, In(*FLOATS, rank=(1, 8), on=HALVES, optional=True)]
Scales = Annotated[Operand, In(*FLOATS, rank=(1, 8), on=SCALES)]
OptionalScales = Annotated[Operand | None, In(*FLOATS, rank=(1, 8), on=SCALES, optional=True)]
OptionalPoints = Annotated[Operand | None, In(INT32, *FLOATS, rank=(1, 8), on=POINTS, optional=True)]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8), on=HALVES)]


@operator(products=PRODUCTS)
def aclnnAddRmsNormQuant(
    x1: Rows,
    x2: Rows,
    gamma: Rows,
    scales1: Scales,
    scales2Optional: OptionalScales,
    zeroPoints1Optional: OptionalPoints,
    zeroPoints2Optional: OptionalPoints,
    axis: Int,
    epsilon: Double,
    divMode: Bool,
    y1Out: Quantised,
    y2Out: Quantised,
    xOut: RowsOut,
) -> Plan:
    """Add, divide by the root of the mean square, multiply by ``gamma``; quantise with the first scales and, where given, the second."""
    points = (zeroPoints1Optional, zeroPoints2Optional)
    return quantised_sum(x1, x2, gamma, None, (scales1, scales2Optional), points, epsilon, divMode, (y1Out, y2Out), xOut, None)


def quantised_sum(
    x1: Operand,
    x2: Operand,
    gamma: Operand,
    beta: Operand | None,
    scales: tuple[Operand, Operand | None],
    points: tuple[Operand | None, Operand | None],
    epsilon: float,
    divides: bool,
    results: tuple[Operand, Operand],
    total: Operand,
    plain: Operand | None,
) -> Plan:
    """The plan of both versions."""
    product = soc.current().product
    same_dtype(x1, x2, gamma, beta, total, plain)
    same_dtype(scales[0], scales[1])
    if product in ROWS_WITH_SCALES:
        types_in(ROWS_WITH_SCALES, product, x1=x1, scales1=scales[0], zeroPoints1Optional=points[0] or points[1])
    same_shape(x1, x2, total, results[0])
    ends_with(x1, gamma)
    long_enough(gamma)
    for factor in filter(None, (*scales, *points, beta)):
        require(factor.shape == gamma.shape, f"{factor.name} has shape {list(factor.shape)}, expected that of gamma: {list(gamma.shape)}")
    second = scales[1] is not None or (points[1] is not None and product is Product.A950)
    require(points[1] is None or second, "zeroPoints2Optional is given, expected scales2Optional too")
    rank_in(results[1], *range(1, 9))
    if second:
        same_dtype(*results)
        same_shape(x1, results[1])
    if plain is not None:
        same_shape(x1, plain)
    if not x1.size:
        return nothing()
    axes = tuple(range(x1.rank - gamma.rank, x1.rank))
    target = results[0].dtype

    def kernel(x1: Array, x2: Array, *arrays: Array | None) -> None:
        gamma, beta, scale1, scale2, point1, point2, y1, y2, x_out, plain_out = (*arrays[:8], *arrays[8:])
        x = wide(x1) + wide(x2)
        values, unshifted, _ = rms_rows(x, wide(gamma), wide(beta), axes, epsilon)
        for y, scale, point in ((y1, scale1, point1), (y2, scale2, point2)):
            if y is not None:
                store(y, with_scale(values, wide(scale), wide(point), divides=divides), target)
        for out, result in ((x_out, x), (plain_out, unshifted)):
            if out is not None:
                out[...] = np.asarray(result, np.float32)

    reads = (x1, x2, gamma, beta, *scales, *points)
    return direct(kernel, reads=reads, writes=(results[0], results[1] if second else None, total, plain), scratch={})


def call(dtype: DType, scale: DType, point: DType | None, target: DType, *, twice: bool, divides: bool) -> Example:
    """One of shape 2, 3, 16."""
    return {
        "x1": numbers((2, 3, 16), dtype, 1),
        "x2": numbers((2, 3, 16), dtype, 2),
        "gamma": numbers((16,), dtype, 3),
        "scales1": np.abs(numbers((16,), scale, 4)) + scale.numpy.type(0.1),
        "scales2Optional": np.abs(numbers((16,), scale, 5)) + scale.numpy.type(0.1) if twice else None,
        "zeroPoints1Optional": numbers((16,), point, 6, 3) if point else None,
        "zeroPoints2Optional": numbers((16,), point, 7, 3) if point and twice else None,
        "axis": -1,
        "epsilon": 1e-6,
        "divMode": divides,
        "y1Out": np.zeros((2, 3, 16), target.numpy),
        "y2Out": np.zeros((2, 3, 16), target.numpy),
        "xOut": numbers((2, 3, 16), dtype, 8),
    }


@aclnnAddRmsNormQuant.example
def examples() -> Iterator[Example]:
    """What all products have."""
    yield call(FLOAT16, FLOAT, INT32, INT8, twice=True, divides=True)
    yield call(FLOAT16, FLOAT, None, INT8, twice=False, divides=False)


@aclnnAddRmsNormQuant.example_on(Product.A2, Product.A3, Product.A950)
def newer_examples() -> Iterator[Example]:
    """BF16 all through."""
    yield call(BF16, BF16, BF16, INT8, twice=True, divides=True)


@aclnnAddRmsNormQuant.example_on(Product.A950)
def newest_examples() -> Iterator[Example]:
    """FLOAT, and results of eight bits."""
    yield call(FLOAT, FLOAT, FLOAT, FLOAT8_E4M3FN, twice=True, divides=False)
    yield call(BF16, FLOAT, INT32, INT8, twice=False, divides=True)
