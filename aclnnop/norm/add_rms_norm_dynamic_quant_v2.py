"""aclnnAddRmsNormDynamicQuantV2: as aclnnAddRmsNormDynamicQuant, with an offset, a choice of results, and results of four bits."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import INT4, INT8, INT32
from acl_emu.core.soc import Product
from acl_emu.runtime.tensor import BoolArray
from acl_emu.spec import Double, Example, HandleKind, Operand, Out, Plan, numbers, operator, require
from aclnnop.math.unary import NEWER
from aclnnop.norm.add_rms_norm_dynamic_quant import Factor, OptionalFactor, Rows, RowsOut, ScalesOut, quantised_rows
from aclnnop.norm.add_rms_norm_dynamic_quant import examples as plain_examples
from aclnnop.norm.quantising import EIGHT_BITS

FEWER = dict.fromkeys((Product.A2, Product.A3), (INT8, INT4, INT32))
QuantisedOut = Annotated[Operand, Out(INT4, INT32, *EIGHT_BITS, rank=(1, 8), on=FEWER)]
Mask = Annotated[BoolArray | None, HandleKind(BoolArray, optional=True)]


@operator(products=NEWER)
def aclnnAddRmsNormDynamicQuantV2(
    x1: Rows,
    x2: Rows,
    gamma: Factor,
    smoothScale1Optional: OptionalFactor,
    smoothScale2Optional: OptionalFactor,
    betaOptional: OptionalFactor,
    epsilon: Double,
    outputMaskOptional: Mask,
    y1Out: QuantisedOut,
    y2Out: QuantisedOut,
    xOut: RowsOut,
    scale1Out: ScalesOut,
    scale2Out: ScalesOut,
) -> Plan:
    """Add, divide by the root of the mean square, scale and shift; quantise each row by its largest magnitude, once or twice."""
    smooth = (smoothScale1Optional, smoothScale2Optional)
    if outputMaskOptional is None:
        require(smooth[1] is None or smooth[0] is not None, "smoothScale2Optional is given, expected smoothScale1Optional too")
        wanted = (True, smooth[0] is not None and smooth[1] is not None)
    else:
        values = outputMaskOptional.values
        require(len(values) == 2, f"outputMaskOptional has {len(values)} elements, expected 2")
        require(any(values), "outputMaskOptional is false for both results, expected one that is true")
        for factor, takes in zip(smooth, values, strict=True):
            require(factor is None or takes, "outputMaskOptional is false for a result whose smoothScale is given")
        wanted = (bool(values[0]), bool(values[1]))
    results, scales = (y1Out, y2Out), (scale1Out, scale2Out)
    return quantised_rows(x1, x2, gamma, betaOptional, smooth, epsilon, wanted, results, xOut, scales)


@aclnnAddRmsNormDynamicQuantV2.example
def examples() -> Iterator[Example]:
    """Every mask; INT8, and INT32 for eight INT4."""
    for turn, example in enumerate(plain_examples()):
        dtype = example["x1"].dtype
        yield {
            **example,
            "betaOptional": numbers((16,), dtype, 9) if turn else None,
            "outputMaskOptional": (None, [False, True], [True, True])[turn],
            **({"y1Out": np.zeros((2, 3, 2), np.int32), "y2Out": np.zeros((2, 3, 2), np.int32)} if turn == 2 else {}),
        }
