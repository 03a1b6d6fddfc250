"""aclnnDynamicMxQuantWithDualAxisV2: a result for each of the last two axes, with a choice of the largest number."""

from collections.abc import Iterator

from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Double, Example, Int, Plan, operator
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.dynamic_mx_quant_with_dual_axis import Numbers, Result, Scales
from aclnnop.quant.dynamic_mx_quant_with_dual_axis import examples as plain_examples
from aclnnop.quant.microscaling import RoundMode, quantised_twice


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnDynamicMxQuantWithDualAxisV2(
    x: Numbers,
    roundModeOptional: RoundMode,
    dstType: Int,
    scaleAlg: Int,
    dstTypeMax: Double,
    y1Out: Result,
    mxscale1Out: Scales,
    y2Out: Result,
    mxscale2Out: Scales,
) -> Plan:
    """Quantise as the first version does; ``dstTypeMax`` is what the largest number becomes in FLOAT4_E2M1, where it is not 0."""
    return quantised_twice(x, roundModeOptional, dstType, scaleAlg, (y1Out, mxscale1Out, y2Out, mxscale2Out), largest=dstTypeMax)


@aclnnDynamicMxQuantWithDualAxisV2.example
def examples() -> Iterator[Example]:
    """Those of the first version."""
    for example in plain_examples():
        yield {**example, "dstTypeMax": 0.0}
