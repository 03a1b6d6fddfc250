"""aclnnDynamicMxQuantV2: blocks along an axis, each divided by a power of two, with a choice of the largest number."""

from collections.abc import Iterator

from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Double, Example, Int, Plan, operator
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.dynamic_mx_quant import examples as plain_examples
from aclnnop.quant.microscaling import Numbers, Result, RoundMode, Scales, quantised


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnDynamicMxQuantV2(
    x: Numbers,
    axis: Int,
    roundModeOptional: RoundMode,
    dstType: Int,
    blocksize: Int,
    scaleAlg: Int,
    dstTypeMax: Double,
    yOut: Result,
    mxscaleOut: Scales,
) -> Plan:
    """Quantise as the first version does; ``dstTypeMax`` is what the largest number becomes in FLOAT4_E2M1, where it is not 0."""
    return quantised(x, axis, roundModeOptional, dstType, blocksize, scaleAlg, yOut, mxscaleOut, largest=dstTypeMax)


@aclnnDynamicMxQuantV2.example
def examples() -> Iterator[Example]:
    """Those of the first version."""
    for example in plain_examples():
        yield {**example, "dstTypeMax": 0.0}
