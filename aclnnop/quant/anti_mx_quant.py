"""aclnnAntiMxQuant: numbers of eight or four bits, times the powers of two of their blocks."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, DType, from_numpy, round_to
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import (
    Array,
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
    require,
    same_shape,
    shape_is,
    wrap_dim,
)
from aclnnop.math.narrow import decoded
from aclnnop.math.unary import FLOATS
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.microscaling import FOUR_BITS, RESULTS, UNIT, scales_shape, spread_scales
from aclnnop.quant.results import require_type


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnAntiMxQuant(
    x: Annotated[Operand, In(*RESULTS, rank=(1, 7))],
    mxscale: Annotated[Operand, In(FLOAT8_E8M0, rank=(2, 8))],
    axis: Int,
    dstType: Int,
    y: Annotated[Operand, Out(*FLOATS, rank=(1, 7), const=True)],
) -> Plan:
    """Multiply blocks of 32 elements along ``axis`` by their powers of two."""
    place = wrap_dim(axis, x, "axis")
    require_type("dstType", dstType, y)
    if x.dtype in FOUR_BITS:
        require(x.shape[-1] % 2 == 0, f"x has shape {list(x.shape)}, expected an even last dimension for dtype {x.dtype}")
        require(x.contiguous, f"x of dtype {x.dtype} has strides, expected a contiguous tensor")
    same_shape(x, y)
    shape_is(mxscale, scales_shape(x.shape, place, UNIT), "of the scales, in pairs")
    return nothing() if y.size == 0 else direct(restored, reads=(x, mxscale), writes=(y,), scratch={}, axis=place, dtype=x.dtype)


def restored(x: Array, scales: Array, y: Array, *, axis: int, dtype: DType) -> None:
    """Exact, but for the rounding to the type of ``y``."""
    values = np.asarray(decoded(x, dtype, y.shape), np.float64)
    y[...] = round_to(values * spread_scales(scales, axis, y.shape), from_numpy(y.dtype))


@aclnnAntiMxQuant.example
def examples() -> Iterator[Example]:
    """Along each axis."""
    for dtype, target, shape, axis in ((FLOAT8_E4M3FN, BF16, (3, 70), -1), (FLOAT8_E5M2, FLOAT, (70, 3), 0)):
        scales = scales_shape(shape, axis % 2, UNIT)
        codes = np.random.default_rng(1).integers(120, 135, scales).astype(np.uint8)
        yield {
            "x": numbers(shape, dtype, 1, 9),
            "mxscale": codes.view(FLOAT8_E8M0.numpy),
            "axis": axis,
            "dstType": target.code,
            "y": numbers(shape, target, 2),
        }
