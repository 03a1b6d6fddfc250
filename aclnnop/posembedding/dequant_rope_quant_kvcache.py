"""aclnnDequantRopeQuantKvcache: from joined queries, keys and values to rotated queries, and to keys and values quantised in a cache."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32
from acl_emu.core.errors import AclnnNullptr, DeviceFault
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    InOut,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    StringKind,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.math.unary import NEWER
from aclnnop.quant.narrowing import narrowed

HALVES = (FLOAT16, BF16)
Cache = Annotated[Operand, InOut(INT8, rank=4, const=False)]
Angles = Annotated[Operand, In(*HALVES, rank=(2, 4))]
Scales = Annotated[Operand, In(FLOAT, rank=(1, 8))]
OptionalScales = Annotated[Operand | None, In(FLOAT, rank=(1, 8), optional=True)]
OptionalRow = Annotated[Operand | None, In(FLOAT, rank=1, optional=True)]


@operator(products=NEWER)
def aclnnDequantRopeQuantKvcache(
    x: Annotated[Operand, In(*HALVES, INT32, rank=(2, 3))],
    cos: Angles,
    sin: Angles,
    kCacheRef: Cache,
    vCacheRef: Cache,
    indices: Annotated[Operand, In(INT32, rank=1)],
    scaleK: Scales,
    scaleV: Scales,
    offsetKOptional: OptionalScales,
    offsetVOptional: OptionalScales,
    weightScaleOptional: OptionalRow,
    activationScaleOptional: OptionalRow,
    biasOptional: Annotated[Operand | None, In(FLOAT, FLOAT16, INT32, BF16, rank=1, optional=True)],
    sizeSplits: IntArrayIn,
    quantModeOptional: Annotated[str | None, StringKind("char*", optional=True, choices=("static",))],
    layoutOptional: Annotated[str | None, StringKind("char*", optional=True, choices=("BSND",))],
    kvOutput: Bool,
    cacheModeOptional: Annotated[str | None, StringKind("char*", optional=True, choices=("page", "contiguous"))],
    qOut: Annotated[Operand, Out(*HALVES, rank=(3, 4), const=True)],
    kOut: Annotated[Operand, Out(*HALVES, rank=(1, 4), const=True)],
    vOut: Annotated[Operand, Out(*HALVES, rank=(1, 4), const=True)],
) -> Plan:
    """Split the rows of ``x``, turn queries and keys, quantise keys and values, and store these where ``indices`` say."""
    whole = x.dtype is INT32
    same_dtype(cos if whole else x, cos, sin, qOut, *((kOut, vOut) if kvOutput else ()))
    if whole and weightScaleOptional is None:
        raise AclnnNullptr("weightScaleOptional must not be a null pointer where x has dtype INT32")
    require(len(sizeSplits) == 3, f"sizeSplits has {len(sizeSplits)} elements, expected 3")
    *lead, width = x.shape
    length = cos.shape[-1]
    sizes = sizeSplits.values
    fitting = sum(sizes) == width and sizes[1] == sizes[2] and length > 0 and all(size >= 0 and size % length == 0 for size in sizes)
    require(fitting, f"sizeSplits is {sizeSplits}, expected multiples of {length} that add up to {width}, the last two of them equal")
    queries, heads = sizes[0] // length, sizes[1] // length
    angles = (*lead, 1, length) if len(lead) == 2 else (*lead, length)
    for operand in (cos, sin):
        shape_is(operand, angles, "as x, with one head")
    for cache in (kCacheRef, vCacheRef):
        shape_is(cache, (*kCacheRef.shape[:2], heads, length), "blocks, positions, heads, elements")
    for factor in filter(None, (scaleK, scaleV, offsetKOptional, offsetVOptional)):
        length_is(factor, heads * length, "one for each element of all heads")
    tokens = int(np.prod(lead))
    for row, count in ((weightScaleOptional, width), (biasOptional, width), (activationScaleOptional, tokens)):
        if row is not None and whole:
            shape_is(row, (count,), "columns or rows of x")
    paged = cacheModeOptional == "page"
    shape_is(indices, (tokens if paged else lead[0],), "one for each token" if paged else "one for each sequence")
    shape_is(qOut, (*lead, queries, length), "as x, with the heads of queries")
    for out in (kOut, vOut):
        rank_in(out, *range(1, 5))
        if kvOutput:
            shape_is(out, (*lead, heads, length), "as x, with the heads of keys")
    if not x.size:
        return nothing()
    steps = lead[1] if len(lead) == 2 else 1
    rows, positions = kCacheRef.shape[:2]

    def kernel(*arrays: Array | None) -> None:
        x, cos, sin, places, of_k, of_v, from_k, from_v, of_weight, of_row, bias, k_cache, v_cache, q_out, *outs = arrays
        assert x is not None
        assert places is not None
        values = np.asarray(x, np.float32)
        if whole:
            values = dequantised(np.asarray(x), of_weight, of_row, bias)
        joined = values.reshape(tokens, -1, length)
        turn = [np.asarray(one, np.float32).reshape(tokens, 1, length) for one in (cos, sin)]
        q, k, v = rotated(joined[:, :queries], *turn), rotated(joined[:, queries : queries + heads], *turn), joined[:, queries + heads :]
        if paged:
            flat = np.asarray(places, np.int64)
            low, high = 0, rows * positions
        else:
            flat = np.asarray(places, np.int64)[:, np.newaxis] + np.arange(steps)
            low, high = 0, positions
        if flat.min() < low or flat.max() >= high or (not paged and len(flat) > rows):
            raise DeviceFault(f"indices has an element that leads outside of kCacheRef: {rows} blocks of {positions} positions")
        where = np.unravel_index(flat, (rows, positions)) if paged else (np.repeat(np.arange(len(flat)), steps), flat.reshape(-1))
        for cache, source, scale, offset in ((k_cache, k, of_k, from_k), (v_cache, v, of_v, from_v)):
            assert cache is not None
            assert scale is not None
            divided = source / np.asarray(scale, np.float32).reshape(heads, length)
            shifted = divided if offset is None else divided + np.asarray(offset, np.float32).reshape(heads, length)
            cache[where] = narrowed(shifted, INT8)
        assert q_out is not None
        q_out[...] = q.reshape(q_out.shape)
        for out, source in zip(outs, (k, v), strict=False):
            if out is not None:
                out[...] = source.reshape(out.shape)

    reads = (
        x,
        cos,
        sin,
        indices,
        scaleK,
        scaleV,
        offsetKOptional,
        offsetVOptional,
        weightScaleOptional,
        activationScaleOptional,
        biasOptional,
    )
    writes = (kCacheRef, vCacheRef, qOut, *((kOut, vOut) if kvOutput else ()))
    return direct(kernel, reads=reads, writes=writes, scratch={})


def dequantised(x: Array, of_weight: Array | None, of_row: Array | None, bias: Array | None) -> Array:
    """Sums of products as numbers; a bias of integers is added before the scales, any other behind them."""
    early = bias if bias is not None and bias.dtype.kind == "i" else None
    sums = (x if early is None else x.astype(np.int64) + early).astype(np.float32)
    scaled = sums * np.asarray(of_weight, np.float32)
    if of_row is not None:
        scaled = scaled * np.asarray(of_row, np.float32).reshape(*x.shape[:-1], 1)
    found: Array = scaled if bias is None or early is not None else scaled + np.asarray(bias, np.float32)
    return found


def rotated(x: Array, cos: Array, sin: Array) -> Array:
    """Halves of rows, rotated."""
    first, second = np.split(x, 2, axis=-1)
    found: Array = x * cos + np.concatenate((-second, first), axis=-1) * sin
    return found


@aclnnDequantRopeQuantKvcache.example
def examples() -> Iterator[Example]:
    """Rows of each type, both ways to store."""
    for dtype, angle, mode, gives in ((INT32, FLOAT16, "contiguous", True), (BF16, BF16, "page", False), (FLOAT16, FLOAT16, None, True)):
        three = dtype is not FLOAT16
        lead, tokens = ((2, 3), 6) if three else ((4,), 4)
        yield {
            "x": numbers((*lead, 64), dtype, 1, 9 if dtype is INT32 else 1),
            "cos": numbers((*lead, 1, 16) if three else (*lead, 16), angle, 2),
            "sin": numbers((*lead, 1, 16) if three else (*lead, 16), angle, 3),
            "kCacheRef": numbers((4, 5, 1, 16), INT8, 4, 9),
            "vCacheRef": numbers((4, 5, 1, 16), INT8, 5, 9),
            "indices": np.arange(tokens if mode == "page" else lead[0], dtype=np.int32),
            "scaleK": np.abs(numbers((1, 16), FLOAT, 6)) + np.float32(0.1),
            "scaleV": np.abs(numbers((16,), FLOAT, 7)) + np.float32(0.1),
            "offsetKOptional": numbers((1, 16), FLOAT, 8) if gives else None,
            "offsetVOptional": None,
            "weightScaleOptional": numbers((64,), FLOAT, 9) if dtype is INT32 else None,
            "activationScaleOptional": numbers((6,), FLOAT, 10) if dtype is INT32 else None,
            "biasOptional": numbers((64,), INT32, 11, 9) if dtype is INT32 else None,
            "sizeSplits": [32, 16, 16],
            "quantModeOptional": "static",
            "layoutOptional": "BSND",
            "kvOutput": gives,
            "cacheModeOptional": mode,
            "qOut": numbers((*lead, 2, 16), angle, 12),
            "kOut": numbers((*lead, 1, 16), angle, 13),
            "vOut": numbers((*lead, 1, 16), angle, 14),
        }
