"""aclnnSwigluMxQuantWithDualAxis: a gated linear unit that is quantised with powers of two along both axes; a result for each."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Array, Bool, Double, Example, Int, Plan, numbers, operator, require
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.swi_glu import swiglu
from aclnnop.quant.activated import Groups, Matrix, MatrixOut, MatrixScales, cut, not_empty, quantised_both_ways, unit_of
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.microscaling import FOUR_BITS, RoundMode


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnSwigluMxQuantWithDualAxis(
    x: Matrix,
    groupIndexOptional: Groups,
    activateLeft: Bool,
    roundModeOptional: RoundMode,
    scaleAlg: Int,
    dstType: Int,
    maxDtypeValue: Double,
    y1Out: MatrixOut,
    mxscale1Out: MatrixScales,
    y2Out: MatrixOut,
    mxscale2Out: MatrixScales,
) -> Plan:
    """Quantise the unit along rows to ``y1Out``, and across the rows of every group to ``y2Out``; groups are ends of rows."""
    require(maxDtypeValue == 0, f"maxDtypeValue is {maxDtypeValue}, expected 0")
    not_empty(x, groupIndexOptional)
    split_axis(x, -1)
    if y1Out.dtype in FOUR_BITS:
        require(x.shape[1] % 4 == 0, f"x has shape {list(x.shape)}, expected a last dimension that 4 divides for y1Out of {y1Out.dtype}")
    result_fits(x, 1, y1Out, y2Out)

    def activate(x: Array) -> Array:
        return swiglu(*cut(x, 1, left=activateLeft))

    codes = roundModeOptional, dstType, scaleAlg
    results = y1Out, mxscale1Out, y2Out, mxscale2Out
    return quantised_both_ways(activate, (x,), unit_of(x, 1), groupIndexOptional, codes, results)


@aclnnSwigluMxQuantWithDualAxis.example
def examples() -> Iterator[Example]:
    """With groups, of which one begins within a pair of blocks, and without."""
    for dtype, groups, algorithm, target in ((BF16, [40, 100], 1, FLOAT8_E4M3FN), (FLOAT16, None, 0, FLOAT8_E5M2)):
        yield {
            "x": numbers((100, 12), dtype, 1, 3),
            "groupIndexOptional": groups and np.array(groups),
            "activateLeft": groups is not None,
            "roundModeOptional": None if groups else "rint",
            "scaleAlg": algorithm,
            "dstType": target.code,
            "maxDtypeValue": 0.0,
            "y1Out": np.zeros((100, 6), target.numpy),
            "mxscale1Out": np.ones((100, 1, 2), FLOAT8_E8M0.numpy),
            "y2Out": np.zeros((100, 6), target.numpy),
            "mxscale2Out": np.ones((3 if groups else 2, 6, 2), FLOAT8_E8M0.numpy),
        }
