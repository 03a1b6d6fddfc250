"""Microscaling (MX): blocks along an axis share a power of two, which is stored as its exponent (FLOAT8_E8M0)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT4_E1M2, FLOAT4_E2M1, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, DType
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import Array, In, Operand, Out, Plan, StringKind, direct, nothing, require, same_shape, shape_is, wrap_dim
from aclnnop.math.narrow import encoded, magnitudes
from aclnnop.math.unary import FLOATS
from aclnnop.quant.results import require_rounding, require_type, wide

FOUR_BITS = (FLOAT4_E2M1, FLOAT4_E1M2)
RESULTS = (*FOUR_BITS, FLOAT8_E4M3FN, FLOAT8_E5M2)
EXPONENTS = {FLOAT4_E2M1: 2, FLOAT4_E1M2: 0, FLOAT8_E4M3FN: 8, FLOAT8_E5M2: 15}
"""Of the largest number."""
LARGEST = {FLOAT4_E2M1: 6.0, FLOAT4_E1M2: 1.75, FLOAT8_E4M3FN: 448.0, FLOAT8_E5M2: 57344.0}
BIAS, NOT_A_NUMBER = 127, 255
UNIT, MOST_ELEMENTS = 32, 1024
ALGORITHMS = {FLOAT4_E2M1: (0, 2), FLOAT4_E1M2: (0,), FLOAT8_E4M3FN: (0, 1), FLOAT8_E5M2: (0, 1)}

Numbers = Annotated[Operand, In(*FLOATS, rank=(1, 7))]
RoundMode = Annotated[str | None, StringKind("char*", optional=True)]
Result = Annotated[Operand, Out(*RESULTS, rank=(1, 7), const=True)]
Scales = Annotated[Operand, Out(FLOAT8_E8M0, rank=(1, 8), const=True)]


def scales_shape(shape: Shape, axis: int, block: int) -> Shape:
    """Two scales lie side by side at the end; the axis has half as many places as there are blocks."""
    pairs = -(-shape[axis] // (2 * block))
    return (*shape[:axis], pairs, *shape[axis + 1 :], 2)


def quantised(
    x: Operand,
    axis: int,
    roundMode: str | None,
    dstType: int,
    blocksize: int,
    scaleAlg: int,
    y: Operand,
    scales: Operand,
    *,
    largest: float = 0.0,
    least: float = 0.0,
) -> Plan:
    """Rules and plan of all versions along one axis."""
    place = checked(x, axis, roundMode, dstType, blocksize, scaleAlg, y, scales, largest=largest, least=least)
    if x.size == 0:
        return nothing()
    settings: dict[str, Any] = {"axis": place, "block": blocksize, "rounding": roundMode or "rint", "dtype": y.dtype}
    return direct(in_blocks, reads=(x,), writes=(y, scales), scratch={}, codes=(scaleAlg, largest, least), **settings)


def quantised_twice(
    x: Operand,
    roundMode: str | None,
    dstType: int,
    scaleAlg: int,
    results: tuple[Operand, Operand, Operand, Operand],
    *,
    largest: float = 0.0,
) -> Plan:
    """Rules and plan of the versions along the last axis and along the one before it."""
    y1, scales1, y2, scales2 = results
    for axis, y, scales in ((-1, y1, scales1), (-2, y2, scales2)):
        checked(x, axis, roundMode, dstType, UNIT, scaleAlg, y, scales, largest=largest)
    require(largest == 0 or scaleAlg == 2, f"dstTypeMax is {largest}, expected 0 where scaleAlg is {scaleAlg}")
    if x.size == 0:
        return nothing()
    settings: dict[str, Any] = {"rounding": roundMode or "rint", "dtype": y1.dtype}
    return direct(in_blocks_both_ways, reads=(x,), writes=results, scratch={}, codes=(scaleAlg, largest, 0.0), **settings)


def checked(
    x: Operand,
    axis: int,
    roundMode: str | None,
    dstType: int,
    blocksize: int,
    scaleAlg: int,
    y: Operand,
    scales: Operand,
    *,
    largest: float = 0.0,
    least: float = 0.0,
    places: Shape | None = None,
) -> int:
    """The place of the axis, once the arguments keep the rules; ``places``: the shape of the scales, if it is not the usual one."""
    place = wrap_dim(axis, x, "axis")
    require_type("dstType", dstType, y)
    narrow = y.dtype in FOUR_BITS
    if roundMode is not None:
        require_rounding("roundModeOptional", roundMode, ("rint", "floor", "round") if narrow else ("rint",), y)
    fits = blocksize % UNIT == 0 and 0 < blocksize <= MOST_ELEMENTS
    require(fits, f"blocksize is {blocksize}, expected a multiple of {UNIT} up to {MOST_ELEMENTS}")
    require(
        scaleAlg in ALGORITHMS[y.dtype], f"scaleAlg is {scaleAlg}, expected one of {', '.join(map(str, ALGORITHMS[y.dtype]))} for {y.dtype}"
    )
    require(scaleAlg != 2 or blocksize == UNIT, f"blocksize is {blocksize}, expected {UNIT} where scaleAlg is 2")
    if x.dtype is FLOAT:
        require(blocksize == UNIT, f"blocksize is {blocksize}, expected {UNIT} for x of dtype {FLOAT}")
        require(
            x.shape[place] >= UNIT, f"x has shape {list(x.shape)}, expected at least {UNIT} elements along axis {axis} for dtype {FLOAT}"
        )
    require(largest == 0 or 6 <= largest <= 12, f"dstTypeMax is {largest}, expected 0 or a value from 6 to 12")
    require(
        largest == 0 or (y.dtype is FLOAT4_E2M1 and blocksize == UNIT),
        f"dstTypeMax is {largest}, expected 0 for {y.dtype} and a blocksize of {blocksize}",
    )
    require(least >= 0, f"maxLowBound is {least}, expected a value of at least 0")
    require(least == 0 or scaleAlg == 1, f"maxLowBound is {least}, expected 0 where scaleAlg is {scaleAlg}")
    if narrow:
        require(x.shape[-1] % 2 == 0, f"x has shape {list(x.shape)}, expected an even last dimension for {y.name} of dtype {y.dtype}")
        require(y.contiguous, f"{y.name} of dtype {y.dtype} has strides, expected a contiguous tensor")
    same_shape(x, y)
    shape_is(scales, places or scales_shape(x.shape, place, blocksize), "of the scales, in pairs")
    return place


def in_blocks(
    x: Array, y: Array, scales: Array, *, axis: int, block: int, rounding: str, dtype: DType, codes: tuple[int, float, float]
) -> None:
    """What is missing to a whole block counts as 0; what rounding would bring beyond the type's range stays at its end."""
    values = np.moveaxis(wide(x), axis, -1)
    length = values.shape[-1]
    pairs = -(-length // (2 * block))
    padded = np.zeros((*values.shape[:-1], pairs * 2 * block), np.float32)
    padded[..., :length] = values
    blocks = padded.reshape(*values.shape[:-1], pairs * 2, block)
    algorithm, largest, least = codes
    found = exponents(np.abs(blocks).max(axis=-1), dtype, algorithm, largest, least)
    found[..., -(-length // block) :] = 0
    quotients = np.ldexp(blocks.astype(np.float64), (BIAS - found)[..., np.newaxis])
    most = LARGEST[dtype]
    kept = np.where(np.isnan(quotients), quotients, np.clip(on_grid(quotients, dtype, rounding), -most, most))
    result = np.moveaxis(kept.reshape(padded.shape)[..., :length], -1, axis)
    y[...] = encoded(result, dtype).reshape(y.shape)
    paired = found.reshape(*values.shape[:-1], pairs, 2)
    scales.view(np.uint8)[...] = np.moveaxis(paired, -2, axis).astype(np.uint8)


def in_blocks_both_ways(x: Array, y1: Array, scales1: Array, y2: Array, scales2: Array, **settings: Any) -> None:
    """Along the last axis, then along the one before it."""
    in_blocks(x, y1, scales1, axis=x.ndim - 1, block=UNIT, **settings)
    in_blocks(x, y2, scales2, axis=x.ndim - 2, block=UNIT, **settings)


def exponents(maxima: Array, dtype: DType, algorithm: int, largest: float, least: float) -> Array:
    """The codes of the scales: an exponent each, 127 more than it is; one for what is not finite."""
    finite = np.where(np.isfinite(maxima), maxima, 0).astype(np.float32)
    if algorithm == 0 or (algorithm == 2 and largest in (0, 6, 7)):
        fraction, exponent = np.frexp(finite)
        # The fraction is from one half to one: its upper bits are those behind the leading one.
        border = np.inf if algorithm == 0 else 0.875 if largest == 7 else 0.75
        found = exponent - 1 + (fraction >= border) - EXPONENTS[dtype] + BIAS
        found = np.where(finite == 0, 0, np.clip(found, 0, 254))
    else:
        ratio = np.maximum(finite, np.float32(least)) / np.float32(largest or LARGEST[dtype])
        bits = ratio.astype(np.float32).view(np.uint32)
        found, rest = (bits >> np.uint32(23)).astype(np.int64), bits & np.uint32(0x7FFFFF)
        half = 0x400000 if algorithm == 1 else 0x7FFFFF
        found = found + np.where(found == 0, rest > half, (found < 254) & (rest > 0))
    return np.where(np.isfinite(maxima), found, NOT_A_NUMBER).astype(np.int64)


def on_grid(values: Array, dtype: DType, rounding: str) -> Array:
    """Numbers that a type of four bits has: on one side, or the nearest with halves away from 0; all others are rounded when stored."""
    if dtype not in FOUR_BITS or rounding == "rint":
        return values
    sizes = magnitudes(dtype)
    if rounding == "ceil":
        return -on_grid(-values, dtype, "floor")
    if rounding == "trunc":
        return np.copysign(on_grid(np.abs(values), dtype, "floor"), values)
    if rounding == "round":
        place = np.searchsorted((sizes[:-1] + sizes[1:]) / 2, np.abs(values), side="right")
        return np.copysign(sizes[np.minimum(place, len(sizes) - 1)], values)
    steps = np.concatenate((-sizes[:0:-1], sizes))
    return steps[np.maximum(np.searchsorted(steps, values, side="right") - 1, 0)]


def spread_scales(scales: Array, axis: int, shape: Shape) -> Array:
    """The power of two of every element, from scales in pairs."""
    codes = np.moveaxis(scales.view(np.uint8).astype(np.int64), axis, -2)
    each = codes.reshape(*codes.shape[:-2], -1).repeat(UNIT, axis=-1)[..., : shape[axis]]
    powers: Array = np.where(each == NOT_A_NUMBER, np.nan, np.ldexp(1.0, each - BIAS))
    return np.moveaxis(powers, -1, axis)
