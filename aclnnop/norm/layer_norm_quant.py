"""aclnnLayerNormQuant: layer normalisation, quantised with one given scale."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8
from acl_emu.core.errors import AclnnInvalid
from acl_emu.spec import (
    ALL,
    Array,
    Double,
    Example,
    In,
    IntKind,
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
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.quantising import layer_rows, store, wide, with_scale
from aclnnop.norm.rows import LEAST_ROW

ON = dict.fromkeys((Product.A2, Product.A3), (FLOAT16, BF16)) | {Product.A310P: (FLOAT16,)}
Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8), on=ON)]


@operator(products=ALL - {Product.A310B, Product.A910}, elsewhere=AclnnInvalid)
def aclnnLayerNormQuant(
    x: Rows,
    gamma: Rows,
    beta: Rows,
    scale: Annotated[Operand, In(*FLOATS, rank=1, on=ON)],
    zeroPointsOptional: Annotated[Operand | None, In(INT8, rank=1, optional=True)],
    quantMode: Annotated[int, IntKind("int")],
    epsilon: Double,
    res: Annotated[Operand, Out(INT8, rank=(1, 8))],
    scaleOut: Annotated[Operand, Out(FLOAT, rank=(0, 7))],
) -> Plan:
    """Normalise each row, scale and shift it; divide by ``scale``, add the zero point and round."""
    same_dtype(x, gamma, beta, scale)
    length = x.shape[-1]
    ones = gamma.size == gamma.shape[-1]
    fitting = gamma.shape[-1] == length and ones
    require(fitting, f"gamma has shape {list(gamma.shape)}, expected ones and the last length of x: {length}")
    same_shape(x, res)
    same_shape(gamma, beta)
    require(scale.size == 1, f"scale has {scale.size} elements, expected 1")
    if zeroPointsOptional is not None:
        same_shape(scale, zeroPointsOptional)
    rank_in(scaleOut, *range(8))
    require(quantMode == 0, f"quantMode is {quantMode}, expected 0")
    size = length * x.dtype.storage.itemsize
    require(soc.current().product is not Product.A310P or size >= LEAST_ROW, f"x has rows of {size} bytes, expected at least {LEAST_ROW}")
    if not x.size:
        return nothing()

    def kernel(x: Array, gamma: Array, beta: Array, scale: Array, point: Array | None, out: Array) -> None:
        factors = wide(gamma).reshape(-1), wide(beta).reshape(-1)
        store(out, with_scale(layer_rows(wide(x), *factors, (-1,), epsilon), wide(scale), wide(point), divides=True), INT8)

    return direct(kernel, reads=(x, gamma, beta, scale, zeroPointsOptional), writes=(res,), scratch={})


@aclnnLayerNormQuant.example
def examples() -> Iterator[Example]:
    """With and without a zero point."""
    for turn in range(2):
        yield {
            "x": numbers((2, 3, 16), FLOAT16, 1),
            "gamma": numbers((1, 16), FLOAT16, 2),
            "beta": numbers((1, 16), FLOAT16, 3),
            "scale": np.full((1,), 0.05, np.float16),
            "zeroPointsOptional": np.full((1,), 3, np.int8) if turn else None,
            "quantMode": 0,
            "epsilon": 1e-5,
            "res": np.zeros((2, 3, 16), np.int8),
            "scaleOut": numbers((2, 3), FLOAT, 4),
        }
