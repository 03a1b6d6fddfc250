"""aclnnSwiGluQuant: a gated linear unit, quantised with the scales of groups of rows or with one for every row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Operand,
    Out,
    Plan,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_shape,
    shape_is,
)
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.activation.swi_glu import swiglu
from aclnnop.activation.swiglu_rows import as_rows, group_of_rows, row_count, rows_taken, split, store
from aclnnop.math.unary import FLOATS
from aclnnop.quant.narrowing import narrowed, row_scales

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 8))]
Scales = Annotated[Operand | None, In(FLOAT, rank=(1, 2), optional=True)]
Groups = Annotated[Operand | None, In(INT32, rank=1, optional=True)]
Mode = Annotated[str | None, StringKind("char*", optional=True)]
RowScales = Annotated[Operand | None, Out(FLOAT, optional=True, const=True)]
MODES = ("static", "dynamic")


@operator(products=NEWER)
def aclnnSwiGluQuant(
    x: Rows,
    smoothScalesOptional: Scales,
    offsetsOptional: Scales,
    groupIndexOptional: Groups,
    activateLeft: Bool,
    quantModeOptional: Mode,
    yOut: Annotated[Operand, Out(INT8, rank=(2, 8), const=True)],
    scaleOut: RowScales,
) -> Plan:
    """Scale the gated unit of every row with its group's factors, and quantise it; null stands for a scale of every row's own."""
    return quantised(
        x, smoothScalesOptional, offsetsOptional, groupIndexOptional, activateLeft, quantModeOptional, yOut, scaleOut, counts=False
    )


@aclnnSwiGluQuant.example
def examples() -> Iterator[Example]:
    """Both modes, scales for groups and for their columns."""
    for dtype, mode, scales in ((FLOAT, "dynamic", (2, 4)), (BF16, "static", (2, 4)), (FLOAT16, "static", (2,)), (FLOAT, None, (2,))):
        yield {
            "x": numbers((3, 8), dtype, 1, 3),
            "smoothScalesOptional": numbers(scales, FLOAT, 2),
            "offsetsOptional": numbers(scales, FLOAT, 3) if mode == "static" else None,
            "groupIndexOptional": np.array([1, 3], np.int32),
            "activateLeft": dtype is FLOAT,
            "quantModeOptional": mode,
            "yOut": np.zeros((3, 4), np.int8),
            "scaleOut": numbers((3,), FLOAT, 4),
        }


def quantised(
    x: Operand,
    smooth: Operand | None,
    offsets: Operand | None,
    groups: Operand | None,
    left: bool,
    mode: str | None,
    y: Operand,
    scales: Operand | None,
    *,
    counts: bool,
) -> Plan:
    """The plan of both versions; ``counts``: whether groups are sizes, and not where they end."""
    mode = mode or "dynamic"
    require(mode in MODES, f"quantModeOptional is {mode!r}, expected one of {', '.join(MODES)}")
    dynamic, target = mode == "dynamic", y.dtype
    axis = split_axis(x, -1)
    group_count, half = 1 if groups is None else groups.size, x.shape[-1] // 2
    if smooth is not None:
        require(
            smooth.shape in ((group_count,), (group_count, half)),
            f"{smooth.name} has shape {list(smooth.shape)}, expected {[group_count]} or {[group_count, half]}",
        )
    if offsets is not None and not dynamic and smooth is not None:
        same_shape(smooth, offsets)
    result_fits(x, axis, y)
    if dynamic:
        if scales is None:
            raise AclnnNullptr("scaleOut must not be a null pointer where quantModeOptional is dynamic")
        shape_is(scales, x.shape[:-1], "that of x without its last dimension")
    if not y.size:
        return nothing()
    rows = row_count(x, axis)

    def kernel(x: Array, smooth: Array | None, offsets: Array | None, groups: Array | None, y: Array, scales: Array | None) -> None:
        sizes = groups if groups is None or counts else np.diff(groups, prepend=0)
        taken = rows_taken(sizes, rows)
        values = swiglu(*split(as_rows(x, rows)[:taken], left=left))
        group = group_of_rows(sizes, taken)
        if smooth is not None:
            values = values * per_row(smooth, group)
        if offsets is not None and not dynamic:
            values = values + per_row(offsets, group)
        if dynamic and scales is not None:
            found, values = row_scales(values, target)
            store(scales, 1 / found)
        store(y, narrowed(values, target))

    writes = (y, scales if dynamic else None)
    return direct(kernel, reads=(x, smooth, offsets, groups), writes=writes, scratch={})


def per_row(factors: Array, group: Array) -> Array:
    """What the rows of a group share: one number, or one for each column."""
    wide = np.asarray(factors, np.float64).reshape(len(factors), -1)
    return wide[group]
