"""aclnnDynamicQuantV4: rows, columns or a tensor, scaled to the range of a narrow type, or of a part of it."""

from collections.abc import Iterator

from acl_emu.core.dtypes import HIFLOAT8
from acl_emu.spec import Bool, Example, Float, Int, Plan, Product, operator, require
from aclnnop.quant.dynamic import Groups, OffsetOut, Result, Rows, ScaleOut, Smooth, quantised
from aclnnop.quant.dynamic_quant_v3 import Mode
from aclnnop.quant.dynamic_quant_v3 import examples as plain_examples
from aclnnop.quant.narrowing import LARGEST
from aclnnop.quant.results import require_type


@operator(products=frozenset({Product.A950}))
def aclnnDynamicQuantV4(
    x: Rows,
    smoothScalesOptional: Smooth,
    groupIndexOptional: Groups,
    dstType: Int,
    isSymmetrical: Bool,
    quantMode: Mode,
    dstTypeMax: Float,
    yOut: Result,
    scaleOut: ScaleOut,
    offsetOut: OffsetOut,
) -> Plan:
    """Scale as the third version does; ``dstTypeMax``, where it is not 0, is what the largest number becomes in HIFLOAT8."""
    require_type("dstType", dstType, yOut)
    require(0 <= dstTypeMax <= LARGEST[HIFLOAT8], f"dstTypeMax is {dstTypeMax}, expected a value from 0 to {LARGEST[HIFLOAT8]:.0f}")
    given = (x, smoothScalesOptional, groupIndexOptional, yOut, scaleOut, offsetOut)
    largest = dstTypeMax if yOut.dtype is HIFLOAT8 else 0.0
    return quantised(*given, mode=quantMode, symmetrical=isSymmetrical, largest=largest)


@aclnnDynamicQuantV4.example
def examples() -> Iterator[Example]:
    """Those of the third version."""
    for example in plain_examples():
        yield {**example, "dstTypeMax": 0.0}
