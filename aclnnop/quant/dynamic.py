"""Dynamic quantisation: every row, column or tensor is scaled so that its largest number is that of the narrow type."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT4, INT32, DType
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import Array, In, Operand, Out, Plan, Product, direct, nothing, require, same_dtype, shape_is
from aclnnop.quant.narrowing import LARGEST
from aclnnop.quant.results import ON, RESULTS, put, result_of, wide

Rows = Annotated[Operand, In(FLOAT16, BF16, rank=(2, 8))]
Smooth = Annotated[Operand | None, In(FLOAT16, BF16, rank=(1, 2), optional=True)]
Groups = Annotated[Operand | None, In(INT32, rank=1, optional=True)]
Result = Annotated[Operand, Out(*RESULTS, rank=(2, 8), const=True, on=ON)]
ScaleOut = Annotated[Operand, Out(FLOAT, rank=(1, 7), const=True)]
OffsetOut = Annotated[Operand | None, Out(FLOAT, rank=(1, 7), const=True, optional=True)]
MODES = ("pertoken", "pertensor", "perchannel")


def quantised(
    x: Operand,
    smooth: Operand | None,
    groups: Operand | None,
    y: Operand,
    scale: Operand,
    offset: Operand | None,
    *,
    mode: str = "pertoken",
    symmetrical: bool = True,
    largest: float = 0.0,
) -> Plan:
    """Rules and plan of all versions; ``largest`` is what the largest number becomes, where it is not the type's."""
    if soc.current().product in (Product.A310P, Product.A910):
        smooth = groups = None  # reserved there
    result_of(x, y)
    check_smooth(x, smooth, groups, mode)
    *outer, rows, columns = x.shape
    shape = {"pertoken": (*outer, rows), "pertensor": (1,), "perchannel": (*outer, columns)}[mode]
    shape_is(scale, shape, f"of the scales, {mode}")
    if not symmetrical:
        if offset is None:
            raise AclnnNullptr("offsetOut must not be a null pointer where the quantisation is not symmetrical")
        shape_is(offset, shape, f"of the offsets, {mode}")
    if x.size == 0:
        return nothing()
    settings = {"mode": mode, "dtype": y.dtype, "largest": largest or LARGEST[INT4 if y.dtype is INT32 else y.dtype]}
    writes = (y, scale, None if symmetrical else offset)
    return direct(scale_and_round, reads=(x, smooth, groups), writes=writes, scratch={}, **settings)


def check_smooth(x: Operand, smooth: Operand | None, groups: Operand | None, mode: str) -> None:
    """Factors for each column, or for each row of a channel; with groups, for each column of each group."""
    require(groups is None or smooth is not None, "groupIndexOptional is given, expected smoothScalesOptional too")
    require(groups is None or mode == "pertoken", f"groupIndexOptional is given, expected a null pointer where quantMode is {mode}")
    if smooth is None:
        return
    same_dtype(x, smooth)
    rows, columns = x.shape[-2:]
    if groups is None:
        shape_is(smooth, (rows if mode == "perchannel" else columns,), "of the factors")
    else:
        shape_is(smooth, (groups.size, columns), "of the factors of each group")


def scale_and_round(
    x: Array,
    smooth: Array | None,
    groups: Array | None,
    y: Array,
    scale: Array,
    offset: Array | None,
    *,
    mode: str,
    dtype: DType,
    largest: float,
) -> None:
    """In FLOAT. A row of zeros, and one without a range where there is an offset, has the scale 0 and becomes 0."""
    values = wide(x)
    if smooth is not None:
        factors = wide(smooth)
        if groups is not None:
            rows = np.arange(values.size // values.shape[-1])
            group = np.minimum(np.searchsorted(groups, rows, side="right"), len(factors) - 1)
            values = (values.reshape(len(rows), -1) * factors[group]).reshape(values.shape)
        else:
            values = values * (factors[:, np.newaxis] if mode == "perchannel" else factors)
    axis = {"pertoken": -1, "pertensor": None, "perchannel": -2}[mode]
    if offset is None:
        scales = np.abs(values).max(axis=axis, keepdims=True) / np.float32(largest)
        found = np.where(scales == 0, np.float32(0), values / scales)
    else:
        least = largest + 1 if dtype.kind == "integer" else largest
        highest = values.max(axis=axis, keepdims=True)
        scales = (highest - values.min(axis=axis, keepdims=True)) / np.float32(largest + least)
        offsets = np.where(scales == 0, np.float32(0), np.float32(largest) - highest / scales)
        found = np.where(scales == 0, np.float32(0), values / scales + offsets)
        offset[...] = offsets.reshape(offset.shape)
    scale[...] = scales.reshape(scale.shape)
    put(y, found, dtype)
