"""aclnnSwiGluQuantV2: a gated linear unit, quantised to eight or four bits; groups are sizes or ends of rows."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import INT4, INT8
from acl_emu.spec import Bool, Example, Int, IntKind, Operand, Out, Plan, operator, require
from aclnnop.activation.pointwise import NEWER
from aclnnop.quant.swi_glu_quant import Groups, Mode, Rows, RowScales, Scales, quantised
from aclnnop.quant.swi_glu_quant import examples as plain_examples

RESULTS = {dtype.code: dtype for dtype in (INT8, INT4)}


class GroupList(enum.IntEnum):
    """What a list of groups holds."""

    CUMSUM = 0
    COUNT = 1


@operator(products=NEWER)
def aclnnSwiGluQuantV2(
    x: Rows,
    smoothScalesOptional: Scales,
    offsetsOptional: Scales,
    groupIndexOptional: Groups,
    activateLeft: Bool,
    quantModeOptional: Mode,
    groupListType: Annotated[int, IntKind(choices=GroupList)],
    dstType: Int,
    yOut: Annotated[Operand, Out(*RESULTS.values(), rank=(2, 8), const=True)],
    scaleOut: RowScales,
) -> Plan:
    """Scale the gated unit of every row with its group's factors, and quantise it to INT8 or INT4."""
    require(dstType in RESULTS, f"dstType is {dstType}, expected one of {', '.join(map(str, sorted(RESULTS)))}")
    require(yOut.dtype is RESULTS[dstType], f"yOut has dtype {yOut.dtype}, expected that of dstType: {RESULTS[dstType]}")
    if yOut.dtype is INT4:
        require(x.shape[-1] % 4 == 0, f"x has shape {list(x.shape)}, expected a last dimension that 4 divides where yOut has dtype INT4")
    return quantised(
        x,
        smoothScalesOptional,
        offsetsOptional,
        groupIndexOptional,
        activateLeft,
        quantModeOptional,
        yOut,
        scaleOut,
        counts=groupListType == GroupList.COUNT,
    )


@aclnnSwiGluQuantV2.example
def examples() -> Iterator[Example]:
    """Sizes and ends of groups, and no groups."""
    for turn, example in enumerate(plain_examples()):
        if turn == 2:
            example |= {"groupIndexOptional": None}
            example |= {name: example[name][:1] for name in ("smoothScalesOptional", "offsetsOptional")}
        yield {**example, "groupListType": turn % 2, "dstType": INT8.code}
