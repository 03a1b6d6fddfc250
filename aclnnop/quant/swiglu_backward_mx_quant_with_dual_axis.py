"""aclnnSwigluBackwardMxQuantWithDualAxis: the gradient of a gated linear unit, quantised with powers of two along both axes."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT8_E4M3FN, FLOAT8_E8M0, FLOAT16
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Array, Bool, Double, Example, In, Int, Operand, Out, Plan, numbers, operator, require, same_dtype, same_shape
from aclnnop.activation.gated import result_fits
from aclnnop.activation.swi_glu_grad import gradients
from aclnnop.quant.activated import Groups, cut, not_empty, quantised_both_ways
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.microscaling import RoundMode
from aclnnop.quant.results import require_type

Values = Annotated[Operand, In(FLOAT16, BF16, rank=(2, 6))]
Result = Annotated[Operand, Out(FLOAT8_E4M3FN, rank=(2, 6), const=True)]
Scales = Annotated[Operand, Out(FLOAT8_E8M0, rank=(3, 7), const=True)]
PAIR = 64


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnSwigluBackwardMxQuantWithDualAxis(
    x: Values,
    yGrad: Values,
    groupIndexOptional: Groups,
    activateLeft: Bool,
    roundModeOptional: RoundMode,
    scaleAlg: Int,
    dstDtype: Int,
    maxDtypeValue: Double,
    y1Out: Result,
    mxscale1Out: Scales,
    y2Out: Result,
    mxscale2Out: Scales,
) -> Plan:
    """Quantise the gradient of both halves along rows to ``y1Out``, across the rows of every group to ``y2Out``."""
    require(maxDtypeValue == 0, f"maxDtypeValue is {maxDtypeValue}, expected 0")
    require(scaleAlg == 1, f"scaleAlg is {scaleAlg}, expected 1")
    require_type("dstDtype", dstDtype, y1Out)
    same_dtype(x, yGrad)
    not_empty(x, yGrad, groupIndexOptional)
    require(x.shape[-1] % PAIR == 0, f"x has shape {list(x.shape)}, expected a last dimension that {PAIR} divides")
    flat = groupIndexOptional is None or x.rank == 2
    require(flat, f"x has {x.rank} dimensions, expected 2 where groupIndexOptional is given")
    last = x.rank - 1
    result_fits(x, last, yGrad)
    same_shape(x, y1Out, y2Out)

    def activate(x: Array, grad: Array) -> Array:
        pair = gradients(grad.astype(np.float64), *cut(x, last, left=activateLeft))
        return np.concatenate(pair if activateLeft else pair[::-1], axis=-1)

    codes = roundModeOptional, dstDtype, scaleAlg
    results = y1Out, mxscale1Out, y2Out, mxscale2Out
    return quantised_both_ways(activate, (x, yGrad), x, groupIndexOptional, codes, results)


@aclnnSwigluBackwardMxQuantWithDualAxis.example
def examples() -> Iterator[Example]:
    """Groups of rows; several matrices without groups."""
    for dtype, shape, groups in ((BF16, (70, 64), [40, 70]), (FLOAT16, (2, 5, 64), None)):
        *lead, rows, length = shape
        yield {
            "x": numbers(shape, dtype, 1, 3),
            "yGrad": numbers((*lead, rows, length // 2), dtype, 2, 3),
            "groupIndexOptional": groups and np.array(groups),
            "activateLeft": groups is not None,
            "roundModeOptional": None if groups else "rint",
            "scaleAlg": 1,
            "dstDtype": FLOAT8_E4M3FN.code,
            "maxDtypeValue": 0.0,
            "y1Out": np.zeros(shape, FLOAT8_E4M3FN.numpy),
            "mxscale1Out": np.ones((*lead, rows, 1, 2), FLOAT8_E8M0.numpy),
            "y2Out": np.zeros(shape, FLOAT8_E4M3FN.numpy),
            "mxscale2Out": np.ones((3, length, 2) if groups else (*lead, 1, length, 2), FLOAT8_E8M0.numpy),
        }
