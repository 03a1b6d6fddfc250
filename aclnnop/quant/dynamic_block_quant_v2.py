"""aclnnDynamicBlockQuantV2: blocks of rows and columns, each scaled to the range of a narrow type, or of a part of it."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT, HIFLOAT8, INT8
from acl_emu.spec import Double, Example, In, Int, Operand, Out, Plan, StringKind, operator, require
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.quant.dynamic_block_quant import COLUMNS, OLDER, quantised
from aclnnop.quant.dynamic_block_quant import examples as plain_examples
from aclnnop.quant.results import EIGHT_BIT_FLOATS

SIZES, OLDER_SIZES = ((1, 128, 256, 512), COLUMNS), ((1,), (1, 128))
LIMITS = (0.0, 15.0, 56.0, 224.0, 32768.0)


@operator(products=NEWER)
def aclnnDynamicBlockQuantV2(
    x: Annotated[Operand, In(*FLOATS, rank=(2, 3))],
    minScale: Double,
    roundModeOptional: Annotated[str | None, StringKind("char*", optional=True)],
    dstType: Int,
    rowBlockSize: Int,
    colBlockSize: Int,
    dstTypeMax: Double,
    yOut: Annotated[Operand, Out(INT8, *EIGHT_BIT_FLOATS, rank=(2, 3), const=True, on=OLDER)],
    scaleOut: Annotated[Operand, Out(FLOAT, rank=(2, 3), const=True)],
) -> Plan:
    """Scale as the first version does; ``dstTypeMax``, where it is not 0, is what the largest number becomes in HIFLOAT8."""
    limits = LIMITS if yOut.dtype is HIFLOAT8 else (0.0,)
    require(
        dstTypeMax in limits, f"dstTypeMax is {dstTypeMax}, expected one of {', '.join(map(str, limits))} for yOut of dtype {yOut.dtype}"
    )
    given = (x, minScale, roundModeOptional, dstType, (rowBlockSize, colBlockSize), yOut, scaleOut)
    return quantised(*given, sizes=SIZES, older=OLDER_SIZES, largest=dstTypeMax)


@aclnnDynamicBlockQuantV2.example
def examples() -> Iterator[Example]:
    """Those of the first version."""
    for example in plain_examples():
        yield {**example, "dstTypeMax": 0.0}
