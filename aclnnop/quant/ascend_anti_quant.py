"""aclnnAscendAntiQuant: numbers of a narrow type plus an offset, times a scale."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, INT4, INT8, INT32, DType, round_to
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.narrow import decoded
from aclnnop.quant.results import EIGHT_BIT_FLOATS, ON, RESULTS, require_type, wide

ScaleIn = Annotated[Operand, In(FLOAT, BF16, rank=(1, 8))]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnAscendAntiQuant(
    x: Annotated[Operand, In(*RESULTS, on=ON)],
    scale: ScaleIn,
    offset: Annotated[Operand | None, In(FLOAT, BF16, rank=(1, 8), optional=True)],
    dstType: Int,
    sqrtMode: Bool,
    y: Annotated[Operand, Out(FLOAT16, BF16, const=True)],
) -> Plan:
    """Add ``offset`` and multiply by ``scale``, once or twice; an INT32 holds eight numbers of INT4."""
    require_type("dstType", dstType, y)
    if offset is not None:
        same_dtype(scale, offset)
        same_shape(scale, offset)
    if x.dtype in EIGHT_BIT_FLOATS:
        require(scale.dtype is FLOAT, f"scale has dtype {scale.dtype}, expected {FLOAT} for x of dtype {x.dtype}")
    shape = x.shape
    if x.dtype is INT4:
        require(x.contiguous, f"x of dtype {INT4} has strides, expected a contiguous tensor")
        require(not shape or shape[-1] % 2 == 0, f"x has shape {list(shape)}, expected an even last dimension for dtype {INT4}")
    if x.dtype is INT32:
        require(x.rank > 0, f"x has no dimensions, expected one to be unpacked for dtype {INT32}")
        shape = (*shape[:-1], 8 * shape[-1])
    shape_is(y, shape, "of the numbers that x holds")
    spread = spread_of(scale, shape)
    if y.size == 0:
        return nothing()
    return direct(restored, reads=(x, scale, offset), writes=(y,), scratch={}, dtype=x.dtype, spread=spread, twice=sqrtMode)


def spread_of(scale: Operand, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which a scale broadcasts; only the newest chips have one along the last dimension but one."""
    last = shape[-1] if shape else 1
    newest = soc.current().product is Product.A950
    if scale.rank == 1 and scale.size in (1, last):
        return scale.shape if shape else ()
    if newest and len(shape) > 1:
        if scale.rank == 1 and scale.size == shape[-2]:
            return (scale.size, 1)
        long = [axis - len(shape) for axis, length in enumerate(scale.shape) if length != 1]
        if scale.rank == len(shape) and (not long or (len(long) == 1 and long[0] >= -2 and scale.shape[long[0]] == shape[long[0]])):
            return scale.shape
    require(False, f"scale has shape {list(scale.shape)}, expected 1 element or as many as y has in its last dimension: {last}")
    raise AssertionError


def restored(x: Array, scale: Array, offset: Array | None, y: Array, *, dtype: DType, spread: tuple[int, ...], twice: bool) -> None:
    """In FLOAT, rounded once."""
    values = unpacked(x, dtype, y.shape)
    if offset is not None:
        values = values + wide(offset).reshape(spread)
    factors = wide(scale).reshape(spread)
    values = values * factors
    y[...] = round_to(values * factors if twice else values, BF16 if y.dtype == BF16.numpy else FLOAT16)


def unpacked(x: Array, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The numbers that an array holds, in FLOAT."""
    if dtype not in (INT4, INT32):
        return wide(np.asarray(decoded(x, dtype, shape)))
    stored = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    codes = np.stack((stored & 15, stored >> 4), axis=-1).reshape(-1).astype(np.int8)
    return wide(np.where(codes > 7, codes - 16, codes)).reshape(shape)


@aclnnAscendAntiQuant.example
def examples() -> Iterator[Example]:
    """A scale for each element, and one."""
    for count, biased, twice in ((8, True, False), (1, False, True)):
        yield {
            "x": between(-128, 128, (3, 8), INT8, 1),
            "scale": numbers((count,), FLOAT, 2),
            "offset": numbers((count,), FLOAT, 3, 9) if biased else None,
            "dstType": FLOAT16.code,
            "sqrtMode": twice,
            "y": numbers((3, 8), FLOAT16, 4),
        }


@aclnnAscendAntiQuant.example_on(Product.A950, Product.A3, Product.A2)
def packed() -> Iterator[Example]:
    """Eight numbers in one."""
    yield {
        "x": between(-(2**31), 2**31, (3, 2), INT32, 1),
        "scale": numbers((16,), BF16, 2),
        "offset": numbers((16,), BF16, 3),
        "dstType": BF16.code,
        "sqrtMode": False,
        "y": numbers((3, 16), BF16, 4),
    }


@aclnnAscendAntiQuant.example_on(Product.A950)
def of_eight_bits() -> Iterator[Example]:
    """Floats, and a scale for each row."""
    yield {
        "x": numbers((3, 8), FLOAT8_E4M3FN, 1, 9),
        "scale": numbers((3, 1), FLOAT, 2),
        "offset": None,
        "dstType": FLOAT16.code,
        "sqrtMode": False,
        "y": numbers((3, 8), FLOAT16, 4),
    }
