"""aclnnAscendQuant: numbers times a scale, plus an offset, as those of a narrow type."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8
from acl_emu.spec import Bool, Example, Operand, Out, Plan, Product, String, numbers, operator, same_dtype
from aclnnop.quant.ascend_quant_v3 import Int32, NumberIn, OptionalNumberIn, scaled
from aclnnop.quant.results import INTEGERS, ON


@operator(products=frozenset({Product.A3, Product.A2, Product.A310P}))
def aclnnAscendQuant(
    x: NumberIn,
    scale: NumberIn,
    offset: OptionalNumberIn,
    sqrtMode: Bool,
    roundMode: String,
    dstType: Int32,
    y: Annotated[Operand, Out(*INTEGERS, rank=(1, 8), const=True, on=ON)],
) -> Plan:
    """Multiply by ``scale``, once or twice, add ``offset`` and round; both have a number for each element of the last dimension, or one."""
    if x.dtype is not FLOAT:
        same_dtype(x, scale)
    return scaled(x, scale, offset, sqrtMode, roundMode, dstType, x.rank - 1, y)


@aclnnAscendQuant.example
def examples() -> Iterator[Example]:
    """Scales for each element, and one; each rounding."""
    for dtype, of, shape, mode in ((FLOAT, FLOAT, (8,), "round"), (FLOAT16, FLOAT16, (1,), "floor"), (FLOAT, FLOAT16, (1, 8), "ceil")):
        yield {
            "x": numbers((3, 8), dtype, 1, 9),
            "scale": numbers(shape, of, 2, 3),
            "offset": numbers(shape, of, 3, 3) if mode == "round" else None,
            "sqrtMode": mode == "ceil",
            "roundMode": mode,
            "dstType": INT8.code,
            "y": np.zeros((3, 8), np.int8),
        }
