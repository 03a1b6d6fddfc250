"""aclnnGroupQuant: rows times the scale of their group, as numbers of a narrow type."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, INT64, DType
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.activation.swiglu_rows import store
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.quant.ascend_quant_v3 import Int32
from aclnnop.quant.results import INTEGERS, require_type, result_of, stored, wide


@operator(products=NEWER)
def aclnnGroupQuant(
    x: Annotated[Operand, In(*FLOATS, rank=2)],
    scale: Annotated[Operand, In(*FLOATS, rank=2)],
    groupIndex: Annotated[Operand, In(INT32, INT64, rank=1)],
    offsetOptional: Annotated[Operand | None, In(*FLOATS, rank=(0, 1), optional=True)],
    dstType: Int32,
    y: Annotated[Operand, Out(*INTEGERS, rank=2)],
) -> Plan:
    """Multiply every row by the scales of its group, whose ends ``groupIndex`` has, add one offset and round."""
    same_dtype(scale, offsetOptional)
    groups, columns = scale.shape
    require(columns == x.shape[1], f"scale has shape {list(scale.shape)}, expected as many columns as x has: {x.shape[1]}")
    shape_is(groupIndex, (groups,), "one for each row of scale")
    require(groups > 0, f"scale has shape {list(scale.shape)}, expected at least one row")
    if offsetOptional is not None:
        length_is(offsetOptional, 1, "a single number")
    require_type("dstType", dstType, y)
    result_of(x, y)
    return (
        nothing() if y.size == 0 else direct(by_group, reads=(x, scale, groupIndex, offsetOptional), writes=(y,), scratch={}, dtype=y.dtype)
    )


def by_group(x: Array, scale: Array, ends: Array, offset: Array | None, y: Array, *, dtype: DType) -> None:
    """Rows behind the last group stay as they were."""
    taken = int(np.clip(ends[-1], 0, len(x)))
    group = np.minimum(np.searchsorted(ends, np.arange(taken), side="right"), len(scale) - 1)
    values = wide(x[:taken]) * wide(scale)[group]
    store(y, stored(values if offset is None else values + wide(offset).reshape(()), dtype))


@aclnnGroupQuant.example
def examples() -> Iterator[Example]:
    """Each type, an empty group, eight numbers in one."""
    for dtype, of, target in ((FLOAT, FLOAT, INT8), (BF16, FLOAT, INT8), (FLOAT16, FLOAT16, INT32)):
        yield {
            "x": numbers((5, 16), dtype, 1, 9),
            "scale": numbers((3, 16), of, 2, 3),
            "groupIndex": np.array([2, 2, 5], np.int32 if target is INT8 else np.int64),
            "offsetOptional": numbers((1,), of, 3) if target is INT8 else None,
            "dstType": target.code,
            "y": np.zeros((5, 2 if target is INT32 else 16), target.numpy),
        }
