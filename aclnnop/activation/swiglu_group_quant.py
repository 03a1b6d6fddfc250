"""aclnnSwigluGroupQuant: a gated linear unit over the rows of groups, quantised to eight bits in blocks, by groups or as a whole."""

import enum
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16, HIFLOAT8, INT64
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.swiglu_group import checked_limit
from aclnnop.activation.swiglu_rows import as_rows, clipped_swiglu, group_of_rows, put, row_count, rows_taken, split, store
from aclnnop.math.narrow import encoded
from aclnnop.math.unary import FLOATS
from aclnnop.quant.narrowing import LARGEST

SMALLEST = 1e-4
"""What a block's largest magnitude counts as at least."""
BLOCKS = {0: 128, 1: 32}
RESULTS = {dtype.code: dtype for dtype in (FLOAT8_E5M2, FLOAT8_E4M3FN)}


class QuantMode(enum.IntEnum):
    """What shares a scale."""

    BLOCK = 0
    MX = 1
    STATIC = 2
    DYNAMIC = 3


@operator(products=frozenset({Product.A950}))
def aclnnSwigluGroupQuant(
    x: Annotated[Operand, In(*FLOATS, rank=(2, 8))],
    weightOptional: Annotated[Operand | None, In(FLOAT, rank=(1, 8), optional=True)],
    groupIndexOptional: Annotated[Operand | None, In(INT64, rank=1, optional=True)],
    scaleOptional: Annotated[Operand | None, In(FLOAT, rank=1, optional=True)],
    dstType: Int,
    quantMode: Annotated[int, IntKind(choices=QuantMode)],
    blockSize: Int,
    roundScale: Bool,
    clampLimit: Double,
    dstTypeMax: Double,
    outputOrigin: Bool,
    yOut: Annotated[Operand, Out(HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN, rank=(2, 8), const=True)],
    yScaleOut: Annotated[Operand, Out(FLOAT, FLOAT8_E8M0, rank=(1, 8), const=True)],
    yOriginOut: Annotated[Operand, Out(*FLOATS, rank=(2, 8), const=True)],
) -> Plan:
    """Quantise the gated unit of every row: blocks of it, all rows of a group, or all of them share a scale."""
    in_blocks = quantMode in BLOCKS
    limit = checked_limit(clampLimit)
    require(not in_blocks or x.dtype is not FLOAT, f"x has dtype {x.dtype}, expected FLOAT16 or BF16 where quantMode is {quantMode}")
    require(quantMode != QuantMode.MX or x.rank < 8, f"x has {x.rank} dimensions, expected at most 7 where quantMode is 1")
    require(x.shape[-1] % 256 == 0, f"x has shape {list(x.shape)}, expected a last dimension that 256 divides")
    if in_blocks:
        require(dstType in RESULTS, f"dstType is {dstType}, expected one of {', '.join(map(str, sorted(RESULTS)))}")
        require(blockSize in (0, BLOCKS[quantMode]), f"blockSize is {blockSize}, expected 0 or {BLOCKS[quantMode]}")
        require(quantMode != QuantMode.MX or roundScale, "roundScale is false, expected true where quantMode is 1")
    target = RESULTS[dstType] if in_blocks else HIFLOAT8
    require(yOut.dtype is target, f"yOut has dtype {yOut.dtype}, expected {target}")
    kind = FLOAT8_E8M0 if quantMode == QuantMode.MX else FLOAT
    require(yScaleOut.dtype is kind, f"yScaleOut has dtype {yScaleOut.dtype}, expected {kind} where quantMode is {quantMode}")
    same_dtype(x, yOriginOut)
    axis = split_axis(x, -1)
    rows, half = row_count(x, axis), x.shape[-1] // 2
    if weightOptional is not None:
        length_is(weightOptional, rows, "one for each row of x")
    groups = 1 if groupIndexOptional is None else groupIndexOptional.size
    require(groups > 0 or not rows, "groupIndexOptional is empty, expected at least 1 element where x is not empty")
    result_fits(x, axis, yOut, yOriginOut)
    if in_blocks:
        count = half // BLOCKS[quantMode]
        shape_is(yScaleOut, (*x.shape[:-1], count // 2, 2) if quantMode == QuantMode.MX else (*x.shape[:-1], count))
    if quantMode == QuantMode.DYNAMIC:
        shape_is(yScaleOut, (groups,), "one for each group")
    if quantMode == QuantMode.STATIC:
        if scaleOptional is None:
            raise AclnnNullptr("scaleOptional must not be a null pointer where quantMode is 2")
        shape_is(scaleOptional, (groups,), "one for each group")
    if not yOut.size:
        return nothing()

    def kernel(
        x: Array,
        weight: Array | None,
        counts: Array | None,
        given: Array | None,
        y: Array,
        scales: Array,
        origin: Array,
    ) -> None:
        taken = rows_taken(counts, rows)
        values = clipped_swiglu(*split(as_rows(x, rows)[:taken]), alpha=1.0, limit=limit, bias=0.0)
        if outputOrigin:
            put(origin, values)
        if weight is not None:
            values = values * as_rows(weight, rows)[:taken]
        if in_blocks:
            blocks = values.reshape(taken, -1, BLOCKS[quantMode])
            sizes = block_scales(blocks, LARGEST[target], whole=roundScale)
            scaled = blocks / sizes[..., None]
            store(scales, sizes.astype(scales.dtype))
            values = np.where(np.isfinite(scaled), scaled, blocks).reshape(taken, -1)
        else:
            group = group_of_rows(counts, taken)
            if given is not None and quantMode == QuantMode.STATIC:
                values = values * np.asarray(given, np.float64)[group][:, None]
            else:
                largest = np.full(groups, SMALLEST)
                np.maximum.at(largest, group, np.abs(values).max(axis=1))
                scales[...] = largest / dstTypeMax
                values = values * dstTypeMax / largest[group][:, None]
        store(y, encoded(values, target))

    reads = (x, weightOptional, groupIndexOptional, scaleOptional)
    return direct(kernel, reads=reads, writes=(yOut, yScaleOut, yOriginOut), scratch={})


@aclnnSwigluGroupQuant.example
def examples() -> Iterator[Example]:
    """Blocks, and those whose scales are powers of two; all rows and some."""
    for dtype, mode, target, groups in ((FLOAT16, 0, FLOAT8_E4M3FN, None), (BF16, 0, FLOAT8_E5M2, [1, 1]), (BF16, 1, FLOAT8_E4M3FN, None)):
        scale = np.zeros((3, 1), np.float32) if mode == 0 else np.ones((3, 2, 2), FLOAT8_E8M0.numpy)
        yield {
            "x": numbers((3, 256), dtype, 1, 3),
            "weightOptional": numbers((3,), FLOAT, 2) if groups else None,
            "groupIndexOptional": groups and np.array(groups),
            "scaleOptional": None,
            "dstType": target.code,
            "quantMode": mode,
            "blockSize": 0,
            "roundScale": mode == 1,
            "clampLimit": 4.0 if groups else -1.0,
            "dstTypeMax": 15.0,
            "outputOrigin": bool(groups),
            "yOut": np.zeros((3, 128), target.numpy),
            "yScaleOut": scale,
            "yOriginOut": numbers((3, 128), dtype, 3),
        }


def block_scales(blocks: Array, most: float, *, whole: bool) -> Array:
    """What the largest finite magnitude of a block is divided by to be ``most``; ``whole``: rounded up to a power of two."""
    largest = np.where(np.isfinite(blocks), np.abs(blocks), 0).max(axis=-1)
    scales: Array = (np.maximum(largest, SMALLEST) / most).astype(np.float32).astype(np.float64)
    if whole:
        fraction, exponent = np.frexp(scales)
        scales = np.ldexp(1.0, exponent - (fraction == 0.5))
    return scales
