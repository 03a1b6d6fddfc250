"""aclnnDynamicMxQuantV3: blocks along an axis, each divided by a power of two that is not too small."""

from collections.abc import Iterator

from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Double, Example, Int, Plan, operator
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.dynamic_mx_quant import examples as plain_examples
from aclnnop.quant.microscaling import Numbers, Result, RoundMode, Scales, quantised


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnDynamicMxQuantV3(
    x: Numbers,
    axis: Int,
    roundModeOptional: RoundMode,
    dstType: Int,
    blocksize: Int,
    scaleAlg: Int,
    dstTypeMax: Double,
    maxLowBound: Double,
    yOut: Result,
    mxscaleOut: Scales,
) -> Plan:
    """Quantise as the second version does; the largest number of a block counts as at least ``maxLowBound``."""
    return quantised(x, axis, roundModeOptional, dstType, blocksize, scaleAlg, yOut, mxscaleOut, largest=dstTypeMax, least=maxLowBound)


@aclnnDynamicMxQuantV3.example
def examples() -> Iterator[Example]:
    """Those of the first version; a bound where there can be one."""
    for example in plain_examples():
        yield {**example, "dstTypeMax": 0.0, "maxLowBound": 50.0 * example["scaleAlg"]}
