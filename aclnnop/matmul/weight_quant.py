"""Products with weights of few bits: how such weights lie in memory, what they stand for, and the plan of all versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core import soc
from acl_emu.core.constants import ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_FRACTAL_NZ_C0_16
from acl_emu.core.dtypes import (
    BF16,
    FLOAT,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT8_E8M0,
    FLOAT16,
    HIFLOAT8,
    INT4,
    INT8,
    INT32,
    INT64,
    UINT64,
    DType,
)
from acl_emu.engine import apply
from acl_emu.engine.matmul import Sum, matmul
from acl_emu.runtime.tensor import contiguous_strides
from acl_emu.spec import Array, Operand, Plan, Product, direct, require, shape_is
from acl_emu.spec.fractal import Fractal, fractal
from aclnnop.math.narrow import decoded
from aclnnop.quant.narrowing import narrowed
from aclnnop.quant.parameters import unpacked

EIGHT_FOR_ONE = {INT32: INT4, FLOAT: FLOAT4_E2M1}
"""Types that hold eight numbers of another one."""
MOST = 65535
GROUP_STEP = 32
NARROW_WIDTH = 16
"""Columns of a block of numbers of four bits on the newest chips."""
NARROW_BLOCKS = frozenset({ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_FRACTAL_NZ_C0_16})
"""The formats of a weight in blocks; the second one says how wide they are."""
_BLOCK = 1 << 20
"""Numbers of a weight that are worked on at once."""


class Weight(NamedTuple):
    """How a weight lies in memory."""

    inner: int
    columns: int
    dtype: DType
    """Of one number, whatever it is packed in."""
    transposed: bool
    """Whether memory holds the columns one after the other."""
    blocks: Fractal | None


def is_transposed(operand: Operand) -> bool:
    """Whether a matrix lies column by column; one that lies neither so nor row by row is refused."""
    rows, columns = operand.shape[-2:]
    down, across = operand.view.strides[-2:]
    outer = operand.view.strides[:-2]
    plain = contiguous_strides(operand.shape)
    same_batch = all(length == 1 or own == wanted for length, own, wanted in zip(operand.shape, outer, plain, strict=False))
    if same_batch and (columns == 1 or across == 1) and (rows == 1 or down == columns):
        return False
    require(
        same_batch and (rows == 1 or down == 1) and (columns == 1 or across == rows),
        f"{operand.name} has strides {list(operand.view.strides)}, expected those of a contiguous tensor or of a transposed one",
    )
    return True


def is_blocked(operand: Operand) -> bool:
    """Whether a weight is in blocks."""
    return operand.view.format in NARROW_BLOCKS


def weight_of(operand: Operand, inner: int) -> Weight:
    """The shape of the numbers of a weight: of packed ones, eight times as many along the axis that lies in a row."""
    transposed = is_transposed(operand)
    rows, columns = operand.shape[-2:]
    dtype = EIGHT_FOR_ONE.get(operand.dtype, operand.dtype)
    if dtype is not operand.dtype:
        rows, columns = (rows * 8, columns) if transposed else (rows, columns * 8)
    require(rows == inner, f"{operand.name} has shape {list(operand.shape)}, expected {inner} rows as x has columns")
    lying = (columns, rows) if transposed else (rows, columns)
    require(dtype.bits >= 8 or lying[1] % 2 == 0, f"{operand.name} has shape {list(operand.shape)}, expected an even number in a row")
    return Weight(rows, columns, dtype, transposed, blocks_of(operand, lying, dtype) if is_blocked(operand) else None)


def blocks_of(operand: Operand, lying: tuple[int, int], dtype: DType) -> Fractal:
    """The blocks of a weight; the format, or a storage shape with an axis for each part of a block, says how wide they are."""
    usual = fractal((*operand.shape[:-2], *lying), dtype)
    if operand.view.format == ACL_FORMAT_FRACTAL_NZ_C0_16:
        return usual._replace(width=NARROW_WIDTH)
    storage = operand.view.storage
    per = 8 if operand.dtype in EIGHT_FOR_ONE else 1
    if len(storage) == operand.rank + 2 and storage[-1] > 0:
        return usual._replace(width=storage[-1] * per)
    return usual._replace(width=NARROW_WIDTH) if dtype.bits < 8 and soc.current().product is Product.A950 else usual


def memory_of(operand: Operand, weight: Weight) -> Operand:
    """The tensor as its numbers follow each other in memory."""
    if weight.blocks is not None:
        *batch, across, rows, width = weight.blocks.shape
        per = 8 if operand.dtype in EIGHT_FOR_ONE else 1
        return operand.in_view((*batch, across, rows, width // per))
    return operand.transposed() if weight.transposed else operand


def numbers_of(stored: Array, weight: Weight, batch: tuple[int, ...]) -> Array:
    """The numbers of a weight, as a matrix or a batch of them; packed ones are unpacked."""
    lying = (weight.columns, weight.inner) if weight.transposed else (weight.inner, weight.columns)
    shape = (*batch, *lying) if weight.blocks is None else weight.blocks.shape
    if weight.dtype.bits < 8:
        codes = np.ascontiguousarray(stored).view(np.uint8).reshape(-1)
        stored = decoded(codes, weight.dtype, shape) if weight.dtype is not INT4 else signed_nibbles(codes).reshape(shape)
    elif weight.dtype is HIFLOAT8:
        stored = decoded(stored, weight.dtype, stored.shape)
    if weight.blocks is not None:
        by_row = stored.reshape(shape).swapaxes(-3, -2).reshape(*batch, shape[-2], -1)
        stored = by_row[..., : lying[0], : lying[1]]
    return stored.swapaxes(-1, -2) if weight.transposed else stored


def signed_nibbles(codes: Array) -> Array:
    """Two numbers of four bits from every byte, the lower half first."""
    found = np.empty((codes.size, 2), np.int8)
    np.right_shift(np.left_shift(codes, 4).view(np.int8), 4, out=found[:, 0])
    np.right_shift(codes.view(np.int8), 4, out=found[:, 1])
    return found.reshape(-1)


class Mode(NamedTuple):
    """What numbers of a weight share a scale."""

    group: int
    """Rows that do; 0: all of them."""
    late: bool
    """Whether results are scaled, not weights: scales that are packed into 64 bits."""


def scales_of(scale: Operand, weight: Weight, group: int, *, by_column: bool) -> Mode:
    """Check the shape of the scales; ``by_column``: whether they have a row for each column of the weight."""
    late = scale.dtype in (INT64, UINT64)
    n, k = weight.columns, weight.inner
    if group:
        shared = scale.dtype is FLOAT8_E8M0 and group == GROUP_STEP  # of any number of rows
        require(
            shared or (group % GROUP_STEP == 0 and GROUP_STEP <= group < k),
            f"antiquantGroupSize is {group}, expected a multiple of {GROUP_STEP} from {GROUP_STEP} to {k - 1}",
        )
        groups = -(-k // group)
        shape_is(scale, (n, groups) if by_column else (groups, n), "groups of rows, columns")
        return Mode(group, late)
    per_column = {(n,), (n, 1) if by_column else (1, n)}
    require(
        scale.shape in {(1,), (1, 1), *per_column},
        f"{scale.name} has shape {list(scale.shape)}, expected one number, or one for each of {n} columns, as antiquantGroupSize is 0",
    )
    return Mode(0, late)


def weight_product(
    x: Operand,
    weight: Operand,
    scale: Operand,
    offset: Operand | None,
    quant_scale: Operand | None,
    quant_offset: Operand | None,
    bias: Operand | None,
    group: int,
    y: Operand,
    *,
    columns_first: bool = True,
) -> Plan:
    """``y = x @ ((weight + offset) × scale) + bias``, quantised where a scale for that is given.

    ``columns_first``: whether older chips have a weight in blocks, and its scales, column by column.
    """
    product = soc.current().product
    by_column = columns_first and product is Product.A310P and is_blocked(weight)
    if product is not Product.A310P:
        for operand in (x, weight, y):
            require(operand.rank == 2, f"{operand.name} has {operand.rank} dimensions, expected 2 on {soc.current().name}")
    for operand in (x, weight):
        require(0 not in operand.shape, f"{operand.name} has shape {list(operand.shape)}, expected no empty dimension")
    right = weight.transposed() if by_column else weight
    transposed = is_transposed(x)
    form = weight_of(right, x.shape[-1])
    rows = x.shape[-2]
    if product in (Product.A2, Product.A3):
        for name, length in (("k", form.inner), ("n", form.columns), *((("m", rows),) if transposed else ())):
            require(length <= MOST, f"{name} is {length}, expected 1 to {MOST}")
    mode = scales_of(scale, form, group, by_column=by_column)
    if scale.rank == 2:
        is_transposed(scale)
    check_types(x, form, mode, scale, offset, bias)
    if offset is not None:
        shape_is(offset, scale.shape, "that of antiquantScale")
    check_results(quant_scale, quant_offset, form, x, y)
    batch = np.broadcast_shapes(x.shape[:-2], right.shape[:-2])
    if bias is not None:
        shapes = {(form.columns,), (1, form.columns), (*batch, 1, form.columns)}
        require(bias.shape in shapes, f"{bias.name} has shape {list(bias.shape)}, expected {form.columns} elements in a row")
    shape_is(y, (*batch, rows, form.columns), "rows of x, columns of weight")
    width = max(1, min(form.columns, _BLOCK // form.inner))
    scratch: dict[str, tuple[tuple[int, ...], Any]] = {"factor": ((form.inner, width), x.dtype.numpy)}
    if mode.late or quant_scale is not None:
        scratch["sums"] = ((rows, width), np.float32)
    return direct(
        multiply,
        reads=(x, memory_of(right, form), scale, offset, quant_scale, quant_offset, bias),
        writes=(y,),
        scratch=scratch,
        weight=form,
        mode=mode,
        by_column=by_column,
        batch=right.shape[:-2],
        scale_dtype=scale.dtype,
    )


def check_types(x: Operand, weight: Weight, mode: Mode, scale: Operand, offset: Operand | None, bias: Operand | None) -> None:
    """Which types go together."""
    if mode.late:
        require(
            x.dtype is FLOAT16 and weight.dtype is INT8 and not mode.group,
            f"{scale.name} has dtype {scale.dtype}, expected {x.dtype}; this one is for {FLOAT16} x and {INT8} weight without groups",
        )
    elif scale.dtype is not FLOAT8_E8M0:
        require(scale.dtype is x.dtype, f"{scale.name} has dtype {scale.dtype}, expected that of x: {x.dtype}")
    fours, shared = weight.dtype is FLOAT4_E2M1, scale.dtype is FLOAT8_E8M0
    require(
        not shared or (fours and mode.group == GROUP_STEP),
        f"{scale.name} has dtype {scale.dtype}, expected {x.dtype}; this one is for groups of {GROUP_STEP} of {FLOAT4_E2M1}",
    )
    require(
        shared or not fours or (weight.blocks is not None and mode.group > 0),
        f"{scale.name} has dtype {scale.dtype}, expected {FLOAT8_E8M0} for weights of {FLOAT4_E2M1}",
    )
    if weight.dtype in (HIFLOAT8, FLOAT8_E4M3FN, FLOAT4_E2M1):
        require(offset is None, f"antiquantOffsetOptional has a value, expected a null pointer for weights of {weight.dtype}")
    if offset is not None:
        wanted = INT32 if mode.late else x.dtype
        require(offset.dtype is wanted, f"{offset.name} has dtype {offset.dtype}, expected {wanted}")
    if bias is not None:
        newest = soc.current().product is Product.A950
        wider = FLOAT if x.dtype is BF16 and not fours else x.dtype
        allowed = {wider, x.dtype} if newest else {wider}
        require(bias.dtype in allowed, f"{bias.name} has dtype {bias.dtype}, expected {' or '.join(map(str, sorted(allowed, key=str)))}")


def check_results(quant_scale: Operand | None, quant_offset: Operand | None, weight: Weight, x: Operand, y: Operand) -> None:
    """A quantised result has a scale, others have the type of x."""
    require(quant_offset is None or quant_scale is not None, "quantScaleOptional is null, expected a scale with quantOffsetOptional")
    if quant_scale is not None:
        n = weight.columns
        require(
            quant_scale.shape in {(1,), (1, 1), (n,), (1, n)},
            f"{quant_scale.name} has shape {list(quant_scale.shape)}, expected one number, or one for each of {n} columns",
        )
    if quant_scale is not None and quant_offset is not None:
        shape_is(quant_offset, quant_scale.shape, "that of quantScaleOptional")
    wanted = x.dtype if quant_scale is None else INT8
    require(y.dtype is wanted, f"{y.name} has dtype {y.dtype}, expected {wanted}")


def multiply(
    x: Array,
    weight_stored: Array,
    scale: Array,
    offset: Array | None,
    quant_scale: Array | None,
    quant_offset: Array | None,
    bias: Array | None,
    y: Array,
    *,
    weight: Weight,
    mode: Mode,
    by_column: bool,
    batch: tuple[int, ...],
    scale_dtype: DType,
    factor: Array,
    sums: Array | None = None,
) -> None:
    """Some columns at a time: the weight in FLOAT, rounded to the type of x; the product; what is made of it."""
    matrices = numbers_of(weight_stored, weight, batch)
    scales, offsets = (None if one is None else rows_of_scales(one, weight.columns, by_column) for one in (scale, offset))
    assert scales is not None
    if mode.late:
        scales = unpacked(scales)[0]
    elif scale_dtype is FLOAT8_E8M0:
        scales = scales.astype(np.float32)
    lefts, results = np.broadcast_to(x, (*y.shape[:-2], *x.shape[-2:])), y
    rights = np.broadcast_to(matrices, (*y.shape[:-2], *matrices.shape[-2:]))
    for index in np.ndindex(y.shape[:-2]):
        added = None if bias is None else np.broadcast_to(bias, (*y.shape[:-2], 1, weight.columns))[index][0]
        for first in range(0, weight.columns, factor.shape[1]):
            part = slice(first, min(first + factor.shape[1], weight.columns))
            block = factor[:, : part.stop - part.start]
            own = None if mode.late else scales[:, part]
            spread_scales(rights[index][:, part], own, None if offsets is None else offsets[:, part], block, mode.group)
            some = None if added is None else added[part]
            if sums is None:
                plus = None if some is None else Sum(some, 1.0, 1.0)
                matmul(lefts[index], block, results[index][:, part], plus=plus)
                continue
            total = sums[:, : block.shape[1]]
            matmul(lefts[index], block, total)
            if mode.late:
                total *= scales[:, part]
            if some is not None:
                total += some.astype(np.float32)
            finish(total, quant_scale, quant_offset, results[index][:, part], part, weight.columns)


def rows_of_scales(stored: Array, columns: int, by_column: bool) -> Array:
    """A row of scales for every group, one for each column."""
    rows = stored.reshape(1, -1) if stored.ndim == 1 or stored.size in (1, columns) else stored.T if by_column else stored
    return np.broadcast_to(rows, (rows.shape[0], columns))


def spread_scales(numbers: Array, scales: Array | None, offsets: Array | None, out: Array, group: int) -> None:
    """What numbers stand for: groups of rows have scales and offsets of their own."""
    inner = len(numbers)
    whole = inner // group * group if group else inner
    size = group or inner
    for first, end, height in ((0, whole, size), (whole, inner, inner - whole)):
        if first == end:
            continue
        some = slice(first // size, -(-end // size))
        shape = ((end - first) // height, height, numbers.shape[1])
        source, target = numbers[first:end].reshape(shape), out[first:end].reshape(shape)
        inputs = [source, *(values[some, np.newaxis] for values in (scales, offsets) if values is not None)]
        apply(KERNELS[scales is not None, offsets is not None], inputs, (target,))


def offset_and_scaled(values: Array, scale: Array, offset: Array) -> Array:
    """As documented: the offset first."""
    return (values + offset) * scale


def scaled(values: Array, scale: Array) -> Array:
    """Without an offset."""
    return values * scale


def with_offset(values: Array, offset: Array) -> Array:
    """Without a scale."""
    return values + offset


def unscaled(values: Array) -> Array:
    """As they are."""
    return values


KERNELS: dict[tuple[bool, bool], Callable[..., Array]] = {
    (True, True): offset_and_scaled,
    (True, False): scaled,
    (False, True): with_offset,
    (False, False): unscaled,
}
"""By whether there is a scale, and an offset."""


def finish(sums: Array, scale: Array | None, offset: Array | None, out: Array, part: slice, columns: int) -> None:
    """Sums as they are kept: quantised, or rounded."""
    if scale is None:
        apply(unscaled, (sums,), (out,))
        return
    scales, packed = unpacked(scale.reshape(-1))
    offsets = packed if offset is None else offset.reshape(-1)
    scales, offsets = (np.broadcast_to(values, columns)[part] for values in (scales, offsets))
    out[...] = narrowed(sums * scales + offsets, INT8)
