"""Products of integers: exact sums, and what scales, offsets and biases make of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT4, INT8, INT32, INT64, UINT64, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.engine import apply
from acl_emu.engine.matmul import matmul
from acl_emu.spec import Array, Operand, Plan, Product, direct, nothing, require, shape_is
from acl_emu.spec.fractal import is_blocked
from aclnnop.matmul.weight_quant import EIGHT_FOR_ONE, Weight, memory_of, numbers_of, unscaled, weight_of
from aclnnop.quant.narrowing import narrowed
from aclnnop.quant.parameters import unpacked

EXACT = 1024
"""Products of eight bits whose sum FLOAT holds."""
_COLUMNS = 1 << 20
"""Numbers of the right matrix that are worked on at once."""
MOST = 65535
PACKED = frozenset({UINT64, INT64})
REAL = frozenset({FLOAT, BF16})


class Row(NamedTuple):
    """A row of the table of types that go together."""

    factors: frozenset[DType]
    scales: frozenset[DType]
    offset: bool
    """Whether there may be one."""
    biases: frozenset[DType]
    token: bool | None
    """Whether there is a scale for each row of results: yes, no, or as you like."""
    out: frozenset[DType]


def row(factors: Any, scales: Any, offset: bool, biases: Any, token: bool | None, *out: DType) -> Row:
    """Of a table."""
    return Row(frozenset(factors), frozenset(scales), offset, frozenset(biases), token, frozenset(out))


_EIGHT, _FOUR = {INT8}, {INT4}
_OLD = (row(_EIGHT, PACKED, False, {INT32}, False, FLOAT16), row(_EIGHT, PACKED, True, {INT32}, False, INT8))
_COMMON = (
    row(_EIGHT, REAL, False, {INT32, BF16, FLOAT}, None, BF16),
    row(_EIGHT, {FLOAT}, False, {INT32, FLOAT16, FLOAT}, True, FLOAT16),
    row(_FOUR, PACKED, False, {INT32}, False, FLOAT16),
    row(_EIGHT, REAL, False, {INT32}, False, INT32),
    row(_FOUR, REAL, False, {INT32, BF16, FLOAT}, True, BF16),
    row(_FOUR, {FLOAT}, False, {INT32, FLOAT16, FLOAT}, True, FLOAT16),
)
_TRAINING = (*_OLD, *_COMMON)
COMBINATIONS: dict[Product, tuple[Row, ...]] = {
    Product.A310P: (*_OLD, row(_EIGHT, {FLOAT}, False, {INT32}, True, FLOAT16)),
    Product.A2: _TRAINING,
    Product.A3: _TRAINING,
    Product.A950: (row(_EIGHT, PACKED, False, {INT32}, False, FLOAT16, BF16), *_TRAINING[1:]),
}


FOURS_IN_BLOCKS = (row(_FOUR, REAL, True, {BF16}, None, BF16), row(_FOUR, {UINT64, FLOAT}, True, {INT32}, None, FLOAT16))
"""What weights of four bits in blocks have beside that."""


class Parameters(NamedTuple):
    """What is made of sums."""

    scale: Operand
    offset: Operand | None
    token: Operand | None
    bias: Operand | None


def quant_product(
    x1: Operand, x2: Operand, given: Parameters, transposed: tuple[bool, bool], out: Operand, more: tuple[Row, ...] = ()
) -> Plan:
    """``out = (x1 @ x2 + bias) × scale × token + offset``; a bias that is no integer is added last.

    ``more``: rows of types that an operator has beside those of its chip.
    """
    scale, offset, token, bias = given
    left, right = (operand.transposed() if flag else operand for operand, flag in zip((x1, x2), transposed, strict=True))
    newest = soc.current().product is Product.A950
    for operand in (x1, x2):
        require(newest or 0 not in operand.shape[-1:], f"{operand.name} has shape {list(operand.shape)}, expected no empty dimension")
    rows, inner = left.shape[-2], left.shape[-1] * (8 if x1.dtype is INT32 else 1)
    lefts, rights = weight_of(left, rows), weight_of(right, inner)
    require(
        lefts.columns == inner and lefts.dtype is rights.dtype,
        f"x2 has dtype {x2.dtype}, which cannot be multiplied by that of x1: {x1.dtype}",
    )
    check_combination(lefts.dtype, given, out, more)
    batch = broadcast_batch(left, right)
    columns = rights.columns
    for one in (scale, offset):
        if one is not None:
            require(one.shape in ((1,), (columns,)), f"{one.name} has shape {list(one.shape)}, expected one number or {columns}")
    if token is not None:
        shape_is(token, (rows,), "the rows of x1")
    if bias is not None:
        batched = len(batch) == 1 and bias.shape == (*batch, 1, columns)
        require(bias.shape == (columns,) or batched, f"{bias.name} has shape {list(bias.shape)}, expected [{columns}]")
    check_lengths(x1, x2, given)
    shape = (*batch, rows, columns)
    shape_is(out, shape, "that of x1 @ x2")
    if 0 in shape or not inner:
        fits = newest and inner > 0 and (columns > 0 or rights.blocks is None)
        require(fits, f"x1 and x2 have shapes {list(x1.shape)} and {list(x2.shape)}, expected no empty dimension")
        return nothing()
    width = max(1, min(columns, _COLUMNS // inner))
    return direct(
        multiply,
        reads=(memory_of(left, lefts), memory_of(right, rights), scale, offset, token, bias),
        writes=(out,),
        scratch={
            "left": ((rows, inner), np.float32),
            "right": ((inner, width), np.float32),
            "part": ((rows, width), np.float32),
            "total": ((rows, width), np.int32),
        },
        lefts=lefts,
        rights=rights,
        batches=(left.shape[:-2], right.shape[:-2]),
        types=(scale.dtype, out.dtype),
    )


def check_combination(factors: DType, given: Parameters, out: Operand, more: tuple[Row, ...]) -> None:
    """The types are those of a row of the chip's table."""
    scale, offset, token, bias = given
    rows = (*COMBINATIONS.get(soc.current().product, _TRAINING), *more)
    fits = any(
        factors in one.factors
        and scale.dtype in one.scales
        and (offset is None or one.offset)
        and (bias is None or bias.dtype in one.biases)
        and (one.token is None or one.token == (token is not None))
        and out.dtype in one.out
        for one in rows
    )
    names = [f"{name} {'null' if one is None else one.dtype}" for name, one in zip(Parameters._fields, given, strict=True)]
    require(fits, f"out has dtype {out.dtype}, not supported on {soc.current().name} for factors of {factors}, {', '.join(names)}")


def broadcast_batch(left: Operand, right: Operand) -> tuple[int, ...]:
    """The batch of the result."""
    try:
        return np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        text = f"{right.name} has shape {list(right.shape)}, which does not broadcast with {left.name} of shape {list(left.shape)}"
        raise AclnnInvalid(text) from None


def check_lengths(x1: Operand, x2: Operand, given: Parameters) -> None:
    """The last length has a limit, but for the newest chips and one kind of scales."""
    if soc.current().product is Product.A950 or given.scale.dtype in REAL:
        return
    for operand in (x1, x2):
        per = 8 if operand.dtype in EIGHT_FOR_ONE else 1
        if not is_blocked(operand):
            length = operand.shape[-1] * per
            require(length <= MOST, f"{operand.name} has shape {list(operand.shape)}, expected a last length of at most {MOST}")


def multiply(
    x1: Array,
    x2: Array,
    scale: Array,
    offset: Array | None,
    token: Array | None,
    bias: Array | None,
    out: Array,
    *,
    lefts: Weight,
    rights: Weight,
    batches: tuple[tuple[int, ...], tuple[int, ...]],
    types: tuple[DType, DType],
    left: Array,
    right: Array,
    part: Array,
    total: Array,
) -> None:
    """Some columns at a time, and so many terms that FLOAT holds their sum: all sums are exact, and wrap around in INT32."""
    scales, packed = unpacked(scale) if types[0] in PACKED else (scale.astype(np.float32), np.zeros(1, np.float32))
    offsets = (packed if types[1] is INT8 else np.zeros(1, np.float32)) if offset is None else offset
    columns, inner = rights.columns, left.shape[1]
    scales, offsets = (np.broadcast_to(values, columns) for values in (scales, offsets))
    outer = out.shape[:-2]
    firsts = np.broadcast_to(numbers_of(x1, lefts, batches[0]), (*outer, *left.shape))
    seconds = np.broadcast_to(numbers_of(x2, rights, batches[1]), (*outer, inner, columns))
    for index in np.ndindex(outer):
        left[...] = firsts[index]
        added = None if bias is None else np.broadcast_to(bias, (*outer, 1, columns))[index][0]
        for begin in range(0, columns, right.shape[1]):
            some = slice(begin, min(begin + right.shape[1], columns))
            width = some.stop - begin
            right[:, :width] = seconds[index][:, some]
            sums = total[:, :width]
            sums[...] = 0
            for first in range(0, inner, EXACT):
                terms = slice(first, min(first + EXACT, inner))
                matmul(left[:, terms], right[terms, :width], part[:, :width])
                sums += part[:, :width].astype(np.int32)
            finish(sums, scales[some], offsets[some], token, None if added is None else added[some], out[index][:, some], types[1])


def finish(sums: Array, scales: Array, offsets: Array, token: Array | None, bias: Array | None, out: Array, dtype: DType) -> None:
    """What is made of sums, in FLOAT, rounded once; whole results are the sums as they are."""
    if bias is not None and bias.dtype == np.int32:
        sums += bias
        bias = None
    if dtype is INT32:
        out[...] = sums
        return
    values = sums.astype(np.float32) * scales
    if token is not None:
        values *= token[:, np.newaxis]
    values += offsets
    if bias is not None:
        values += bias.astype(np.float32)
    if dtype is INT8:
        out[...] = narrowed(values, INT8)
    else:
        apply(unscaled, (values,), (out,))
