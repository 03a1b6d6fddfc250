"""aclnnQuantize: numbers divided by a scale, plus a zero point, as those of a narrow type."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E5M2, FLOAT16, INT8, INT32, UINT8, DType, dtype_name
from acl_emu.engine.numeric import to_integers
from acl_emu.spec import (
    ALL,
    Array,
    DataType,
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
    require,
    same_dtype,
    same_shape,
    wrap_dim,
)
from aclnnop.math.unary import FLOATS
from aclnnop.quant.ascend_quant_v3 import Int32
from aclnnop.quant.narrowing import narrowed
from aclnnop.quant.results import EIGHT_BIT_FLOATS, wide

PLAIN = (INT8, UINT8, INT32)
POINTS = (INT32, INT8, UINT8, BF16)
OLDER = (Product.A3, Product.A2, Product.A310P)
NumberIn = Annotated[Operand, In(*FLOATS, rank=(1, 8), on={Product.A310P: (FLOAT16,)})]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnQuantize(
    x: NumberIn,
    scales: Annotated[Operand, In(*FLOATS, rank=1, on={Product.A310P: (FLOAT16,)})],
    zeroPoints: Annotated[Operand | None, In(*POINTS, FLOAT, rank=1, optional=True, on=dict.fromkeys(OLDER, POINTS))],
    dtype: DataType,
    axis: Int32,
    out: Annotated[Operand, Out(*PLAIN, *EIGHT_BIT_FLOATS, rank=(1, 8), on=dict.fromkeys(OLDER, PLAIN))],
) -> Plan:
    """Divide by ``scales``, add ``zeroPoints`` and round; both have a number for each element along ``axis``, or one."""
    if x.dtype is not FLOAT:
        same_dtype(x, scales)
    if zeroPoints is not None and zeroPoints.dtype is BF16:
        same_dtype(zeroPoints, x, scales)
    place = wrap_dim(axis, x, "axis")
    require(dtype == out.dtype.code, f"out has dtype {out.dtype}, expected dtype: {dtype_name(dtype)}")
    if zeroPoints is not None:
        require(scales.size == zeroPoints.size, f"zeroPoints has {zeroPoints.size} elements, expected as many as scales has: {scales.size}")
    length = x.shape[place]
    require(scales.size in (1, length), f"scales has {scales.size} elements, expected 1 or as many as x has along axis {axis}: {length}")
    same_shape(x, out)
    if out.size == 0:
        return nothing()
    shape = tuple(scales.size if one == place else 1 for one in range(x.rank))
    return direct(divided, reads=(x, scales, zeroPoints), writes=(out,), scratch={}, shape=shape, dtype=out.dtype)


def divided(x: Array, scales: Array, points: Array | None, out: Array, *, shape: tuple[int, ...], dtype: DType) -> None:
    """In FLOAT; integers saturate."""
    values = wide(x) / wide(scales).reshape(shape)
    if points is not None:
        values = values + wide(points).reshape(shape)
    if dtype in (UINT8, INT32):
        limits = np.iinfo(dtype.numpy)
        out[...] = to_integers(np.clip(np.rint(values.astype(np.float64)), limits.min, limits.max), dtype)
    else:
        out[...] = narrowed(values, dtype)


@aclnnQuantize.example
def examples() -> Iterator[Example]:
    """A scale for all elements, and one for each; each whole type."""
    for count, axis, point, target in ((1, 0, INT8, INT8), (8, -1, INT32, UINT8), (3, 0, None, INT32)):
        yield {
            "x": numbers((3, 8), FLOAT16, 1, 9),
            "scales": np.abs(numbers((count,), FLOAT16, 2)) + np.float16(0.1),
            "zeroPoints": None if point is None else numbers((count,), point, 3, 5),
            "dtype": target.code,
            "axis": axis,
            "out": np.zeros((3, 8), target.numpy),
        }


@aclnnQuantize.example_on(Product.A950)
def of_eight_bits() -> Iterator[Example]:
    """Floats."""
    yield {
        "x": numbers((3, 8), FLOAT, 1, 9),
        "scales": np.abs(numbers((8,), FLOAT, 2)) + np.float32(0.1),
        "zeroPoints": numbers((8,), FLOAT, 3),
        "dtype": FLOAT8_E5M2.code,
        "axis": 1,
        "out": np.zeros((3, 8), FLOAT8_E5M2.numpy),
    }
