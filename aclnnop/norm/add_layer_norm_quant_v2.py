"""aclnnAddLayerNormQuantV2: as aclnnAddLayerNormQuant, with the rows as they were before they were quantised."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import ALL, Bool, Double, Example, Plan, Product, numbers, operator, rank_in
from aclnnop.norm.add_layer_norm_quant import Mode, OptionalRows, QuantisedOut, Rows, RowsOut, ScalesOut, quantised_sum
from aclnnop.norm.add_layer_norm_quant import examples as plain_examples


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnAddLayerNormQuantV2(
    x1: Rows,
    x2: Rows,
    gamma: Rows,
    beta: Rows,
    biasOptional: OptionalRows,
    scales1Optional: OptionalRows,
    scales2Optional: OptionalRows,
    zeroPoints1Optional: OptionalRows,
    zeroPoints2Optional: OptionalRows,
    quantMode: Mode,
    epsilon: Double,
    additionalOutput: Bool,
    divMode: Bool,
    y1Out: QuantisedOut,
    y2Out: QuantisedOut,
    xOut: RowsOut,
    layernormRes: RowsOut,
    outScales1Out: ScalesOut,
    outScales2Out: ScalesOut,
) -> Plan:
    """Add, normalise, scale and shift; quantise with the given scales and zero points, or each row by its largest magnitude."""
    factors = (scales1Optional, scales2Optional, zeroPoints1Optional, zeroPoints2Optional)
    outputs = (y1Out, y2Out, xOut if additionalOutput else None, layernormRes, outScales1Out, outScales2Out)
    rank_in(xOut, *range(1, 9))
    return quantised_sum(x1, x2, gamma, beta, biasOptional, factors, quantMode == "dynamic", epsilon, divMode, outputs, per_tensor=True)


@aclnnAddLayerNormQuantV2.example
def examples() -> Iterator[Example]:
    """What all products have: one scale for all."""
    for turn, dtype in enumerate((FLOAT, FLOAT16)):
        rows = {name: numbers((2, 3, 16), dtype, seed) for seed, name in enumerate(("x1", "x2", "xOut", "layernormRes"), 1)}
        yield {
            **rows,
            "gamma": numbers((1, 16), dtype, 5),
            "beta": numbers((1, 16), dtype, 6),
            "biasOptional": numbers((2, 3, 16), dtype, 7) if turn else None,
            "scales1Optional": np.full((1,), 8, dtype.numpy),
            "scales2Optional": None,
            "zeroPoints1Optional": np.full((1,), 3, dtype.numpy) if turn else None,
            "zeroPoints2Optional": None,
            "quantMode": "static",
            "epsilon": 1e-5,
            "additionalOutput": False,
            "divMode": False,
            "y1Out": np.zeros((2, 3, 16), np.int8),
            "y2Out": np.zeros((2, 3, 16), np.int8),
            "outScales1Out": numbers((2, 3), FLOAT, 8),
            "outScales2Out": numbers((2, 3), FLOAT, 9),
        }


@aclnnAddLayerNormQuantV2.example_on(Product.A950)
def newest_examples() -> Iterator[Example]:
    """All of the first version."""
    for example in plain_examples():
        yield {**example, "layernormRes": numbers((2, 3, 16), example["x1"].dtype, 13)}
