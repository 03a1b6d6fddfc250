"""aclnnGroupedBiasAddGrad and aclnnGroupedBiasAddGradV2: gradients of biases that groups of rows share."""

import enum
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, INT32, INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntKind,
    Operand,
    Operator,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.math.reduction import FLOATS, NEWER, reduced, sum_along

_MOST_GROUPS = 2048
GradIn = Annotated[Operand, In(*FLOATS, rank=(2, 3))]
GroupsIn = Annotated[Operand | None, In(INT32, INT64, optional=True, rank=1)]
BiasOut = Annotated[Operand, Out(*FLOATS, rank=2)]


class GroupIdx(enum.IntEnum):
    """What ``groupIdxOptional`` holds."""

    ENDS = 0
    SIZES = 1


@operator(products=NEWER)
def aclnnGroupedBiasAddGrad(gradY: GradIn, groupIdxOptional: GroupsIn, out: BiasOut) -> Plan:
    """Add up the rows of every group; ``groupIdxOptional`` says where they end, else the first dimension parts them."""
    return grouped(gradY, groupIdxOptional, out, GroupIdx.ENDS)


@operator(products=NEWER)
def aclnnGroupedBiasAddGradV2(
    gradY: GradIn, groupIdxOptional: GroupsIn, groupIdxType: Annotated[int, IntKind(choices=GroupIdx)], out: BiasOut
) -> Plan:
    """Add up the rows of every group; ``groupIdxOptional`` says where they end or how many they are."""
    return grouped(gradY, groupIdxOptional, out, groupIdxType)


def grouped(gradY: Operand, groups: Operand | None, out: Operand, holds: int) -> Plan:
    """Without groups the first dimension parts them."""
    same_dtype(gradY, out)
    wanted = 3 if groups is None else 2
    require(gradY.rank == wanted, f"gradY has {gradY.rank} dimensions, expected {wanted}; its shape is {list(gradY.shape)}")
    count = gradY.shape[0] if groups is None else groups.shape[0]
    shape_is(out, (count, gradY.shape[-1]), "a row for each group")
    require(count <= _MOST_GROUPS or groups is None, f"groupIdxOptional has {count} elements, expected at most {_MOST_GROUPS}")
    if groups is None:
        return reduced(sum_along, gradY, (1,), False, out, dtype=gradY.dtype, of_none=0.0)
    return direct(add_rows, reads=(gradY, groups), writes=(out,), scratch={}, holds=holds) if out.size else nothing()


def add_rows(rows: Array, groups: Array, out: Array, *, holds: int) -> None:
    """Each group is added in float64 and rounded once."""
    ends = groups.astype(np.int64).cumsum() if holds == GroupIdx.SIZES else groups.astype(np.int64)
    starts = np.concatenate(([0], ends[:-1]))
    if (starts > ends).any() or ends[-1] > len(rows):
        raise DeviceFault(f"groupIdxOptional holds {groups.tolist()[:8]}, expected groups in order within the {len(rows)} rows of gradY")
    sums = np.stack([rows[start:end].sum(axis=0, dtype=np.float64) for start, end in zip(starts, ends, strict=True)])
    out[...] = dtypes.round_to(sums, dtypes.from_numpy(out.dtype))


def bias_examples(made: Operator) -> Iterator[Example]:
    """Groups of different sizes, an empty one among them, and equal ones."""
    for dtype, index, groups in ((FLOAT, INT64, [2, 2, 7]), (BF16, INT32, [1, 4, 7]), (FLOAT, INT32, None)):
        example: Example = {
            "gradY": numbers((7, 5) if groups else (3, 4, 5), dtype, 1),
            "groupIdxOptional": None if groups is None else np.array(groups, index.numpy),
            "out": numbers((3, 5), dtype, 2),
        }
        if "groupIdxType" in made.names:
            example["groupIdxType"] = 1
            if groups is not None:
                example["groupIdxOptional"] = np.array([2, 0, 5], index.numpy)
        yield {name: example[name] for name in made.names}


aclnnGroupedBiasAddGrad.example(lambda: bias_examples(aclnnGroupedBiasAddGrad))
aclnnGroupedBiasAddGradV2.example(lambda: bias_examples(aclnnGroupedBiasAddGradV2))
