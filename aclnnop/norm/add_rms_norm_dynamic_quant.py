"""aclnnAddRmsNormDynamicQuant: the rows of a sum, divided by the root of their mean square, quantised with scales of their own."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E5M2, FLOAT16, INT8, DType
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import NEWER
from aclnnop.norm.quantising import (
    EIGHT_BITS,
    HALVES,
    INTEGERS_ONLY,
    meant,
    one_scale_for_each_row,
    quantised_shape,
    rms_rows,
    store,
    wide,
    with_row_scales,
)

Rows = Annotated[Operand, In(*HALVES, rank=(2, 8))]
Factor = Annotated[Operand, In(*HALVES, rank=1)]
OptionalFactor = Annotated[Operand | None, In(*HALVES, rank=1, optional=True)]
RowsOut = Annotated[Operand, Out(*HALVES, rank=(2, 8))]
QuantisedOut = Annotated[Operand, Out(*EIGHT_BITS, rank=(1, 8), on=INTEGERS_ONLY)]
ScalesOut = Annotated[Operand, Out(FLOAT, rank=(1, 8))]


@operator(products=NEWER)
def aclnnAddRmsNormDynamicQuant(
    x1: Rows,
    x2: Rows,
    gamma: Factor,
    smoothScale1Optional: OptionalFactor,
    smoothScale2Optional: OptionalFactor,
    epsilon: Double,
    y1Out: QuantisedOut,
    y2Out: QuantisedOut,
    xOut: RowsOut,
    scale1Out: ScalesOut,
    scale2Out: ScalesOut,
) -> Plan:
    """Add, divide by the root of the mean square, multiply by ``gamma``; quantise each row by its largest magnitude, once or twice."""
    smooth = (smoothScale1Optional, smoothScale2Optional)
    require(smooth[1] is None or smooth[0] is not None, "smoothScale2Optional is given, expected smoothScale1Optional too")
    wanted = (True, smooth[0] is not None and smooth[1] is not None)
    return quantised_rows(x1, x2, gamma, None, smooth, epsilon, wanted, (y1Out, y2Out), xOut, (scale1Out, scale2Out))


def quantised_rows(
    x1: Operand,
    x2: Operand | None,
    gamma: Operand,
    beta: Operand | None,
    smooth: tuple[Operand | None, Operand | None],
    epsilon: float,
    wanted: tuple[bool, bool],
    results: tuple[Operand, Operand],
    total: Operand | None,
    scales: tuple[Operand, Operand],
) -> Plan:
    """The plan of all forms; what is not wanted is not looked at."""
    same_dtype(x1, x2, gamma, beta, *smooth, total)
    for operand in filter(None, (x2, total)):
        same_shape(x1, operand)
    for factor in filter(None, (gamma, beta, *smooth)):
        shape_is(factor, x1.shape[-1:], "the last length of x1")
    for operand in (*results, *scales):
        rank_in(operand, *range(1, 9))
    if all(wanted):
        same_dtype(*results)
    for takes, y, scale in zip(wanted, results, scales, strict=True):
        if takes:
            quantised_shape(x1, y)
            one_scale_for_each_row(scale, x1)
    if not x1.size:
        return nothing()
    types = [y.dtype for y in results]

    def kernel(*arrays: Array | None) -> None:
        first, second, gamma, beta, smooth1, smooth2, y1, y2, x_out, scale1, scale2 = arrays
        x = wide(first) if second is None else wide(first) + wide(second)
        values, _, _ = rms_rows(x, wide(gamma), wide(beta), (-1,), epsilon)
        for y, factor, scale, dtype in ((y1, smooth1, scale1, types[0]), (y2, smooth2, scale2, types[1])):
            if y is not None and scale is not None:
                quotients, found = with_row_scales(values, wide(factor), meant(dtype))
                scale[...] = found.reshape(scale.shape)
                store(y, quotients, dtype)
        if x_out is not None:
            x_out[...] = np.asarray(x, np.float32)

    def asked(pair: tuple[Operand, Operand]) -> list[Operand | None]:
        return [operand if takes else None for operand, takes in zip(pair, wanted, strict=True)]

    return direct(kernel, reads=(x1, x2, gamma, beta, *smooth), writes=(*asked(results), total, *asked(scales)), scratch={})


def call(dtype: DType, target: DType, smooth: tuple[bool, bool]) -> Example:
    """One of shape 2, 3, 16."""
    factors = [numbers((16,), dtype, seed) if takes else None for seed, takes in zip((4, 5), smooth, strict=True)]
    return {
        "x1": numbers((2, 3, 16), dtype, 1),
        "x2": numbers((2, 3, 16), dtype, 2),
        "gamma": numbers((16,), dtype, 3),
        "smoothScale1Optional": factors[0],
        "smoothScale2Optional": factors[1],
        "epsilon": 1e-6,
        "y1Out": np.zeros((2, 3, 16), target.numpy),
        "y2Out": np.zeros((2, 3, 16), target.numpy),
        "xOut": numbers((2, 3, 16), dtype, 6),
        "scale1Out": numbers((2, 3), FLOAT, 7),
        "scale2Out": numbers((6,), FLOAT, 8),
    }


@aclnnAddRmsNormDynamicQuant.example
def examples() -> Iterator[Example]:
    """Once and twice, with and without factors."""
    yield call(FLOAT16, INT8, (True, True))
    yield call(BF16, INT8, (False, False))
    yield call(FLOAT16, INT8, (True, False))


aclnnAddRmsNormDynamicQuant.example_on(Product.A950)(lambda: [call(BF16, FLOAT8_E5M2, (True, True))])
