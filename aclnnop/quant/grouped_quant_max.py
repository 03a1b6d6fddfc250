"""aclnnGroupedQuantMax: groups of rows times their scales in eight bits, and the largest magnitude of each group."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, HIFLOAT8, INT64, DType, from_numpy, round_to
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    String,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.activation.swiglu_rows import store
from aclnnop.math.unary import FLOATS
from aclnnop.quant.results import EIGHT_BIT_FLOATS, require_rounding, require_type, stored, wide

MOST_GROUPS = 384


@operator(products=frozenset({Product.A950}))
def aclnnGroupedQuantMax(
    x: Annotated[Operand, In(*FLOATS, rank=(2, 8))],
    scale: Annotated[Operand, In(FLOAT, rank=1)],
    groupList: Annotated[Operand, In(INT64, rank=1)],
    roundMode: String,
    dstType: Int,
    y: Annotated[Operand, Out(*EIGHT_BIT_FLOATS, rank=(2, 8))],
    amax: Annotated[Operand, Out(*FLOATS, rank=1)],
) -> Plan:
    """Multiply the rows of each group, whose ends ``groupList`` has, by its scale; ``amax`` are the largest magnitudes before."""
    require_type("dstType", dstType, y)
    require_rounding("roundMode", roundMode, ("round", "hybrid") if y.dtype is HIFLOAT8 else ("rint",), y)
    same_dtype(x, amax)
    groups = groupList.size
    require(1 <= groups <= MOST_GROUPS, f"groupList has {groups} elements, expected 1 to {MOST_GROUPS}")
    for operand in (scale, amax):
        shape_is(operand, (groups,), "one for each group")
    same_shape(x, y)
    return nothing() if x.size == 0 else direct(by_group, reads=(x, scale, groupList), writes=(y, amax), scratch={}, dtype=y.dtype)


def by_group(x: Array, scale: Array, ends: Array, y: Array, amax: Array, *, dtype: DType) -> None:
    """A group without rows has the largest magnitude 0; rows behind the last group stay as they were."""
    limits = np.clip(ends, 0, len(x))
    rows = wide(x.reshape(len(x), -1))
    taken = int(limits[-1])
    group = np.minimum(np.searchsorted(limits, np.arange(taken), side="right"), len(scale) - 1)
    largest = np.zeros(len(scale), np.float32)
    np.maximum.at(largest, group, np.abs(rows[:taken]).max(axis=1))
    store(y, stored(rows[:taken] * wide(scale)[group][:, np.newaxis], dtype))
    amax[...] = round_to(largest, from_numpy(amax.dtype))


@aclnnGroupedQuantMax.example
def examples() -> Iterator[Example]:
    """Both types that numpy knows."""
    for dtype, target in ((FLOAT, FLOAT8_E4M3FN), (BF16, FLOAT8_E5M2)):
        yield {
            "x": numbers((5, 2, 3), dtype, 1, 9),
            "scale": numbers((3,), FLOAT, 2),
            "groupList": np.array([1, 3, 5]),
            "roundMode": "rint",
            "dstType": target.code,
            "y": np.zeros((5, 2, 3), target.numpy),
            "amax": numbers((3,), dtype, 3),
        }
