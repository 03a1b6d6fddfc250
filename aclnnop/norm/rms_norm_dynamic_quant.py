"""aclnnRmsNormDynamicQuant: rows divided by the root of their mean square, quantised with scales of their own."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8
from acl_emu.spec import Double, Example, In, Int, Operand, Out, Plan, Product, numbers, operator, rank_in, require
from acl_emu.spec.tiling import in_tiling
from aclnnop.norm.add_rms_norm_dynamic_quant import quantised_rows
from aclnnop.norm.quantising import HALVES

Factor = Annotated[Operand, In(*HALVES, rank=1)]
OptionalFactor = Annotated[Operand | None, In(*HALVES, rank=1, optional=True)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnRmsNormDynamicQuant(
    x: Annotated[Operand, In(*HALVES, rank=(2, 8))],
    gamma: Factor,
    smoothScalesOptional: OptionalFactor,
    betaOptional: OptionalFactor,
    epsilon: Double,
    dstType: Int,
    yOut: Annotated[Operand, Out(INT8, rank=(2, 8), const=True)],
    scaleOut: Annotated[Operand, Out(FLOAT, rank=(1, 8), const=True)],
) -> Plan:
    """Divide each row by the root of its mean square, scale and shift it; quantise it by its largest magnitude."""
    rank_in(yOut, *range(2, 9))
    rank_in(scaleOut, *range(1, 9))
    with in_tiling():
        require(dstType == INT8.code, f"dstType is {dstType}, expected {INT8.code}")
        for operand in filter(None, (x, gamma, smoothScalesOptional, betaOptional)):
            require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no length of 0")
        smooth = (smoothScalesOptional, None)
        return quantised_rows(x, None, gamma, betaOptional, smooth, epsilon, (True, False), (yOut, yOut), None, (scaleOut, scaleOut))


@aclnnRmsNormDynamicQuant.example
def examples() -> Iterator[Example]:
    """With and without factors."""
    for turn, dtype in enumerate(HALVES):
        yield {
            "x": numbers((2, 3, 16), dtype, 1),
            "gamma": numbers((16,), dtype, 2),
            "smoothScalesOptional": numbers((16,), dtype, 3) if turn else None,
            "betaOptional": numbers((16,), dtype, 4) if turn else None,
            "epsilon": 1e-6,
            "dstType": INT8.code,
            "yOut": np.zeros((2, 3, 16), np.int8),
            "scaleOut": numbers((2, 3), FLOAT, 5),
        }
