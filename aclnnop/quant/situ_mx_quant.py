"""aclnnSituMxQuant: a sigmoid-tanh unit, 32 numbers of which share a power of two."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Array, Bool, Example, Float, In, Int, Operand, Out, Plan, direct, numbers, operator, require
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.situ_glu import situ
from aclnnop.quant.activated import cut, not_empty, unit_of
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.microscaling import UNIT, RoundMode, checked, in_blocks


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnSituMxQuant(
    x: Annotated[Operand, In(FLOAT16, BF16, rank=(1, 8))],
    beta: Float,
    linearBeta: Float,
    activateLeft: Bool,
    axis: Int,
    dstType: Int,
    roundModeOptional: RoundMode,
    yOut: Annotated[Operand, Out(FLOAT8_E4M3FN, FLOAT8_E5M2, rank=(1, 8), const=True)],
    yScaleOut: Annotated[Operand, Out(FLOAT8_E8M0, rank=(2, 9), const=True)],
) -> Plan:
    """Quantise the unit of ``x`` along its last axis; ``yScaleOut`` has the exponents."""
    not_empty(x, yOut, yScaleOut)
    require(axis == -1, f"axis is {axis}, expected -1")
    last = split_axis(x, -1)
    require(beta != 0, f"beta is {beta}, expected another value")
    result_fits(x, last, yOut)
    checked(unit_of(x, last), last, roundModeOptional, dstType, UNIT, 0, yOut, yScaleOut)
    dtype = yOut.dtype

    def kernel(x: Array, y: Array, scales: Array) -> None:
        values = situ(*cut(x, last, left=activateLeft), beta, linearBeta)
        in_blocks(values, y, scales, axis=last, block=UNIT, rounding="rint", dtype=dtype, codes=(0, 0.0, 0.0))

    return direct(kernel, reads=(x,), writes=(yOut, yScaleOut), scratch={})


@aclnnSituMxQuant.example
def examples() -> Iterator[Example]:
    """Both types and both halves; parts of blocks."""
    for dtype, shape, left, bound, target in ((BF16, (3, 140), False, 0.0, FLOAT8_E4M3FN), (FLOAT16, (2, 2, 66), True, 3.0, FLOAT8_E5M2)):
        half = shape[-1] // 2
        yield {
            "x": numbers(shape, dtype, 1, 3),
            "beta": 1.5,
            "linearBeta": bound,
            "activateLeft": left,
            "axis": -1,
            "dstType": target.code,
            "roundModeOptional": None if left else "rint",
            "yOut": np.zeros((*shape[:-1], half), target.numpy),
            "yScaleOut": np.ones((*shape[:-1], -(-half // 64), 2), FLOAT8_E8M0.numpy),
        }
