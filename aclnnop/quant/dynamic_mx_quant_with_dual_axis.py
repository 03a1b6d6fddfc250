"""aclnnDynamicMxQuantWithDualAxis: 32 numbers along each of the last two axes share a power of two; a result for each axis."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, numbers, operator, require
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.microscaling import FOUR_BITS, RESULTS, UNIT, RoundMode, quantised_twice, scales_shape

Numbers = Annotated[Operand, In(FLOAT16, BF16, rank=(2, 7))]
Result = Annotated[Operand, Out(*RESULTS, rank=(2, 7), const=True)]
Scales = Annotated[Operand, Out(FLOAT8_E8M0, rank=(2, 8), const=True)]


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnDynamicMxQuantWithDualAxis(
    x: Numbers,
    roundModeOptional: RoundMode,
    dstType: Int,
    scaleAlg: Int,
    y1Out: Result,
    mxscale1Out: Scales,
    y2Out: Result,
    mxscale2Out: Scales,
) -> Plan:
    """Quantise along the last axis to ``y1Out`` and ``mxscale1Out``, along the one before it to ``y2Out`` and ``mxscale2Out``."""
    require(scaleAlg != 2 or y1Out.dtype not in FOUR_BITS, f"scaleAlg is {scaleAlg}, expected 0 for {y1Out.dtype}")
    return quantised_twice(x, roundModeOptional, dstType, scaleAlg, (y1Out, mxscale1Out, y2Out, mxscale2Out))


@aclnnDynamicMxQuantWithDualAxis.example
def examples() -> Iterator[Example]:
    """Parts of blocks along both axes; both algorithms."""
    for dtype, shape, algorithm, target in (
        (BF16, (3, 70), 0, FLOAT8_E4M3FN),
        (FLOAT16, (2, 65, 33), 1, FLOAT8_E5M2),
    ):
        yield {
            "x": numbers(shape, dtype, 1, 90),
            "roundModeOptional": None if algorithm else "rint",
            "dstType": target.code,
            "scaleAlg": algorithm,
            "y1Out": np.zeros(shape, target.numpy),
            "mxscale1Out": np.ones(scales_shape(shape, len(shape) - 1, UNIT), FLOAT8_E8M0.numpy),
            "y2Out": np.zeros(shape, target.numpy),
            "mxscale2Out": np.ones(scales_shape(shape, len(shape) - 2, UNIT), FLOAT8_E8M0.numpy),
        }
