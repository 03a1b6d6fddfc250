"""Products of factors that have scales for groups of their elements: what each kind of scales looks like, and one plan for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import (
    BF16,
    FLOAT,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT8_E8M0,
    FLOAT16,
    HIFLOAT8,
    INT4,
    INT8,
    INT64,
    UINT64,
    DType,
)
from acl_emu.engine import apply
from acl_emu.engine.matmul import matmul
from acl_emu.spec import Array, Operand, Plan, Product, direct, nothing, require, shape_is
from aclnnop.matmul.quant_product import Parameters, Row, broadcast_batch, quant_product
from aclnnop.matmul.weight_quant import EIGHT_FOR_ONE, Weight, memory_of, numbers_of, unscaled, weight_of
from aclnnop.quant.parameters import unpacked

_COLUMNS = 1 << 20
"""Numbers of the right matrix that are worked on at once."""
_FLOATS = frozenset({FLOAT16, BF16, FLOAT})
_EIGHTS = (frozenset({FLOAT8_E4M3FN, FLOAT8_E5M2}), frozenset({HIFLOAT8}))
_NEWEST, _TRAINING = frozenset({Product.A950}), frozenset({Product.A2, Product.A3})


class Form(NamedTuple):
    """A kind of scales: the types that it is for, and how many elements share one."""

    products: frozenset[Product]
    left: frozenset[DType]
    right: frozenset[DType]
    scales: tuple[frozenset[DType], frozenset[DType]]
    """Of the left factor, where none means that there may be none; and of the right one."""
    groups: tuple[int, ...]
    """Rows or columns, and terms, that share a scale of either; 0: all terms."""
    biases: frozenset[DType]
    out: frozenset[DType]
    kind: str


def _form(products: Any, left: Any, right: Any, scales: Any, groups: Any, biases: Any, out: Any, kind: str) -> Form:
    first, second = scales
    pair = frozenset(first), frozenset(second)
    return Form(products, frozenset(left), frozenset(right), pair, groups, frozenset(biases), frozenset(out), kind)


FORMS = (
    *(_form(_NEWEST, kind, kind, ((), (UINT64, INT64)), (1, 0), (FLOAT,), _FLOATS, "columns") for kind in _EIGHTS),
    *(_form(_NEWEST, kind, kind, ((FLOAT,), (FLOAT,)), (1, 0), (FLOAT,), _FLOATS, "columns") for kind in _EIGHTS),
    *(_form(_NEWEST, kind, kind, ((FLOAT,), (FLOAT,)), (128, 128), (), _FLOATS, "blocks") for kind in _EIGHTS),
    _form(_NEWEST | _TRAINING, {INT8}, {INT8}, ((FLOAT,), (FLOAT,)), (128, 128), (FLOAT,), (BF16,), "blocks"),
    _form(_NEWEST, _EIGHTS[0], _EIGHTS[0], ((FLOAT8_E8M0,), (FLOAT8_E8M0,)), (1, 32), (FLOAT,), _FLOATS, "pairs"),
    _form(_NEWEST, {FLOAT4_E2M1}, {FLOAT4_E2M1}, ((FLOAT8_E8M0,), (FLOAT8_E8M0,)), (1, 32), (FLOAT,), _FLOATS, "pairs"),
    _form(_NEWEST, {FLOAT8_E4M3FN}, {FLOAT4_E2M1}, ((FLOAT8_E8M0,), (FLOAT8_E8M0,)), (1, 32), (BF16,), (BF16,), "pairs"),
    _form(_NEWEST, {FLOAT8_E4M3FN}, {FLOAT4_E2M1}, ((), (BF16,)), (1, 32), (), (BF16,), "weights"),
    _form(_TRAINING, {INT8}, {INT4}, ((FLOAT,), (UINT64,)), (1, 256), (), (FLOAT16, BF16), "rows"),
    _form(_TRAINING, {INT4}, {INT4}, ((FLOAT,), (FLOAT,)), (1, 256), (), (FLOAT16, BF16), "rows"),
)
"""``columns``: a scale for each row and column of results; ``blocks``, ``pairs``: for blocks of both factors, or 32 terms of each row and
column, stored two by two; ``weights``, ``rows``: for terms of each column of the right factor."""


class Given(NamedTuple):
    """The tensors beside the factors."""

    x1Scale: Operand | None
    x2Scale: Operand
    yScale: Operand | None
    x1Offset: Operand | None
    x2Offset: Operand | None
    yOffset: Operand | None
    bias: Operand | None


def scaled_product(
    x1: Operand, x2: Operand, given: Given, flags: tuple[bool, bool], group_size: int, out: Operand, more: tuple[Row, ...] = ()
) -> Plan:
    """The product of the factors, each with its scales; integers with a scale for each column are summed exactly."""
    require(0 not in given.x2Scale.shape, f"x2Scale has shape {list(given.x2Scale.shape)}, expected no empty dimension")
    empty: dict[str, Any] = {name: None for name, one in zip(Given._fields, given, strict=True) if one is not None and 0 in one.shape}
    given = given._replace(**empty)  # clients pass empty tensors for null ones
    require(given.x1Offset is None, "x1Offset has a value, expected a null pointer")
    if given.yOffset is not None:
        wanted = f"yOffset has dtype {given.yOffset.dtype} and shape {list(given.yOffset.shape)}, expected {FLOAT} and one dimension"
        require(given.yOffset.dtype is FLOAT and given.yOffset.rank == 1, wanted)
    left, right = (operand.transposed() if flag else operand for operand, flag in zip((x1, x2), flags, strict=True))
    rows, inner = left.shape[-2], left.shape[-1] * (8 if x1.dtype in EIGHT_FOR_ONE else 1)
    lefts = weight_of(left, rows)
    rights = weight_of(right, inner)
    exact = given.x2Scale.rank == 1 and lefts.dtype is rights.dtype and lefts.dtype in (INT8, INT4)
    if exact:
        require(given.yScale is None, "yScale has a value, expected a null pointer for integers")
        require(given.yOffset is None, "yOffset has a value, expected a null pointer with a scale for each column")
        parameters = Parameters(given.x2Scale, given.x2Offset, given.x1Scale, given.bias)
        return quant_product(x1, x2, parameters, flags, out, more)
    form = form_of(lefts.dtype, rights.dtype, given, out)
    batch = broadcast_batch(left, right)
    shape = (*batch, rows, rights.columns)
    check_shapes(form, given, flags, group_size, shape, inner, left.shape[:-2], right.shape[:-2])
    shape_is(out, shape, "that of x1 @ x2")
    if 0 in (*shape, inner):
        require(soc.current().product is Product.A950, f"x1 has shape {list(x1.shape)}, expected no empty dimension")
        return nothing()
    width = max(1, min(rights.columns, _COLUMNS // inner))
    return direct(
        multiply,
        reads=(memory_of(left, lefts), memory_of(right, rights), *given),
        writes=(out,),
        scratch={
            "left": ((rows, inner), np.float32),
            "right": ((inner, width), np.float32),
            "sums": ((rows, width), np.float32),
        },
        factors=(lefts, rights),
        batches=(left.shape[:-2], right.shape[:-2]),
        form=form,
        flags=flags,
    )


def form_of(left: DType, right: DType, given: Given, out: Operand) -> Form:
    """The kind of scales that these types have."""
    first, second, bias = given.x1Scale, given.x2Scale, given.bias
    for form in FORMS:
        fits = (
            soc.current().product in form.products
            and left in form.left
            and right in form.right
            and (first is None) == (not form.scales[0])
            and (first is None or first.dtype in form.scales[0])
            and second.dtype in form.scales[1]
            and (second.rank == 1) == (form.kind == "columns")
            and (bias is None or bias.dtype in form.biases)
            and out.dtype in form.out
            and (given.yScale is not None) == (form.kind == "weights")
            and (given.yOffset is not None) == (form.kind == "rows" and left is INT8)
            and (given.x2Offset is not None) == (form.kind == "rows" and left is INT4)
        )
        if fits:
            return form
    names = ", ".join(f"{name} {'null' if one is None else one.dtype}" for name, one in zip(Given._fields, given, strict=True))
    require(False, f"out has dtype {out.dtype}, not supported on {soc.current().name} for x1 {left}, x2 {right}, {names}")
    raise AssertionError


def check_shapes(
    form: Form,
    given: Given,
    flags: tuple[bool, bool],
    group_size: int,
    shape: tuple[int, ...],
    inner: int,
    left_batch: tuple[int, ...],
    right_batch: tuple[int, ...],
) -> None:
    """The shapes of all scales, and the sizes of groups where they are given."""
    rows, columns = shape[-2:]
    first, second = given.x1Scale, given.x2Scale
    sizes = {"M": group_size >> 32 & 0xFFFF, "N": group_size >> 16 & 0xFFFF, "K": group_size & 0xFFFF}
    terms = -(-inner // form.groups[1]) if form.groups[1] else 0
    allowed = {
        "columns": ({0}, {0}, {0}),
        "blocks": ({0, 1, 128}, {0, 128}, {0, 128}),
        "pairs": ({0, 1}, {0, 1}, {0, 32}),
        "weights": ({0, 1}, {0, 1}, {32}),
        "rows": ({0}, {0}, {0, 256}),
    }[form.kind]
    for (axis, size), values in zip(sizes.items(), allowed, strict=True):
        require(size in values, f"groupSize is {group_size}, with {size} along {axis}, expected one of {sorted(values)}")
    if form.kind == "columns":
        require(second.shape in ((1,), (columns,)), f"x2Scale has shape {list(second.shape)}, expected one number or {columns}")
        if first is not None:
            require(first.shape in ((1,), (rows,)), f"x1Scale has shape {list(first.shape)}, expected one number or {rows}")
    elif form.kind == "blocks":
        assert first is not None
        high, wide = -(-rows // 128), -(-columns // 128)
        shapes = [(*left_batch, *transposed(flags[0], lines, terms)) for lines in (rows, high)]
        require(first.shape in shapes, f"x1Scale has shape {list(first.shape)}, expected {list(shapes[0])} or {list(shapes[1])}")
        require(sizes["M"] in (0, 1 if first.shape == shapes[0] else 128), f"groupSize is {group_size}, which does not fit x1Scale")
        shape_is(second, (*right_batch, *transposed(not flags[1], wide, terms)), "blocks of x2")
    elif form.kind == "pairs":
        assert first is not None
        double = -(-inner // 64)
        shape_is(first, (*transposed(flags[0], rows, double), 2), "pairs of groups of x1")
        shape_is(second, (*transposed(not flags[1], columns, double), 2), "pairs of groups of x2")
    elif form.kind == "weights":
        assert given.yScale is not None
        shape_is(second, transposed(not flags[1], columns, terms), "groups of x2")
        shape_is(given.yScale, (1, columns), "the columns of x2")
    else:
        assert first is not None
        require(first.shape in ((rows, 1), (rows,)), f"x1Scale has shape {list(first.shape)}, expected {[rows, 1]}")
        shape_is(second, (terms, columns), "groups of x2")
        for one, wanted in ((given.x2Offset, second.shape), (given.yOffset, (columns,))):
            if one is not None:
                shape_is(one, wanted)
    if given.bias is not None:
        batched = len(shape) == 3 and given.bias.shape == (shape[0], 1, columns)
        require(
            given.bias.shape in ((columns,), (1, columns)) or batched,
            f"bias has shape {list(given.bias.shape)}, expected [{columns}]",
        )


def transposed(flag: bool, lines: int, terms: int) -> tuple[int, int]:
    """The shape of scales for so many lines, with terms in front where the factor is transposed."""
    return (terms, lines) if flag else (lines, terms)


def multiply(
    x1: Array,
    x2: Array,
    first: Array | None,
    second: Array,
    y_scale: Array | None,
    _: Array | None,
    offset: Array | None,
    y_offset: Array | None,
    bias: Array | None,
    out: Array,
    *,
    factors: tuple[Weight, Weight],
    batches: tuple[tuple[int, ...], tuple[int, ...]],
    form: Form,
    flags: tuple[bool, bool],
    left: Array,
    right: Array,
    sums: Array,
) -> None:
    """Some columns at a time: both factors in FLOAT, with their scales; the product; scales of results."""
    outer, (rows, inner), columns = out.shape[:-2], left.shape, factors[1].columns
    lefts, rights = (numbers_of(stored, factor, own) for stored, factor, own in zip((x1, x2), factors, batches, strict=True))
    lefts, rights = np.broadcast_to(lefts, (*outer, rows, inner)), np.broadcast_to(rights, (*outer, inner, columns))
    for index in np.ndindex(outer):
        left[...] = lefts[index]
        scales = scales_at(first, form, flags[0], index, outer)
        if scales is not None:
            left *= spread(scales, rows, inner, form.groups)
        own = scales_at(second, form, not flags[1], index, outer)
        added = None if bias is None else np.broadcast_to(bias, (*outer, 1, columns))[index][0].astype(np.float32)
        for begin in range(0, columns, right.shape[1]):
            some = slice(begin, min(begin + right.shape[1], columns))
            block, total = right[:, : some.stop - begin], sums[:, : some.stop - begin]
            block[...] = rights[index][:, some]
            if offset is not None:
                block -= spread(offset.T.astype(np.float32), columns, inner, form.groups).T[:, some]
            if own is not None:
                block *= spread(own, columns, inner, form.groups).T[:, some]
            matmul(left, block, total)
            finish(total, form, first, second, y_scale, y_offset, None if added is None else added[some], some, columns)
            apply(unscaled, (total,), (out[index][:, some],))


def scales_at(stored: Array | None, form: Form, flag: bool, index: tuple[int, ...], outer: tuple[int, ...]) -> Array | None:
    """The scales of one matrix of a batch, for lines and groups of terms; None where results are scaled instead."""
    if stored is None or form.kind == "columns" or (form.kind == "rows" and stored.shape[-1] == 1) or stored.ndim == 1:
        return None
    if form.kind == "pairs":
        lines = stored.astype(np.float32)
        lines = lines.transpose(1, 0, 2) if flag else lines
        return lines.reshape(lines.shape[0], -1)
    matrices = unpacked(stored)[0] if stored.dtype.kind in "iu" else stored.astype(np.float32)
    if form.kind == "rows":
        return np.asarray(matrices.T)
    one: Array = np.broadcast_to(matrices, (*outer, *matrices.shape[-2:]))[index]
    return one.T if flag else one


def spread(scales: Array, lines: int, inner: int, groups: tuple[int, ...]) -> Array:
    """A scale for every element; there is one for each line, or one for each group of them."""
    per_line = np.repeat(scales, groups[0], axis=0)[:lines] if len(scales) < lines else scales
    wide: Array = np.repeat(per_line, groups[1], axis=1)[:, :inner]
    return wide


def finish(
    sums: Array,
    form: Form,
    first: Array | None,
    second: Array,
    y_scale: Array | None,
    y_offset: Array | None,
    bias: Array | None,
    some: slice,
    columns: int,
) -> None:
    """What is made of sums, in FLOAT, in place."""
    if form.kind == "columns":
        scales = unpacked(second)[0] if second.dtype.kind in "iu" else second
        if bias is not None:
            sums += bias
        sums *= np.broadcast_to(scales, columns)[some]
        if first is not None:
            sums *= first[:, np.newaxis]
        return
    if y_offset is not None:
        sums += y_offset[some]
    if form.kind == "rows" and first is not None:
        sums *= first.reshape(-1, 1)
    if y_scale is not None:
        sums *= unpacked(y_scale)[0][0, some]
    if bias is not None:
        sums += bias
