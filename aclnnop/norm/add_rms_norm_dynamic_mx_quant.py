"""aclnnAddRmsNormDynamicMxQuant: RMS normalisation of a sum, rounded in blocks that share a power of two."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Bool, Double, Example, Int, Operand, Out, Plan, Product, numbers, operator
from aclnnop.norm.quantising import HALVES
from aclnnop.norm.rms_norm_dynamic_mx_quant import (
    Factor,
    Mode,
    OptionalFactor,
    OptionalRstd,
    QuantisedOut,
    Rows,
    ScalesOut,
    asked,
    blocks_of_rows,
)
from aclnnop.norm.rms_norm_dynamic_mx_quant import examples as plain_examples


@operator(products=frozenset({Product.A950}))
def aclnnAddRmsNormDynamicMxQuant(
    x1: Rows,
    x2: Rows,
    gamma: Factor,
    beta: OptionalFactor,
    epsilon: Double,
    scaleAlg: Int,
    roundMode: Mode,
    dstType: Int,
    outputRstd: Bool,
    yOut: QuantisedOut,
    xOut: Annotated[Operand, Out(*HALVES, rank=(1, 7))],
    mxscaleOut: ScalesOut,
    rstdOut: OptionalRstd,
) -> Plan:
    """Add, divide by the root of the mean square, scale and shift; round blocks of 32 elements that share a scale."""
    factors, settings = (gamma, beta), (epsilon, scaleAlg, roundMode, dstType)
    return blocks_of_rows(x1, x2, factors, settings, yOut, xOut, mxscaleOut, asked(outputRstd, rstdOut))


@aclnnAddRmsNormDynamicMxQuant.example
def examples() -> Iterator[Example]:
    """As without the sum."""
    for example in plain_examples():
        x = example.pop("x")
        yield {**example, "x1": x, "x2": numbers(x.shape, x.dtype, 5), "xOut": numbers(x.shape, x.dtype, 6)}
