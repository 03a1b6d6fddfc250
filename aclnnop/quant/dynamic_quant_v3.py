"""aclnnDynamicQuantV3: rows, columns or a tensor, scaled to the range of a narrow type."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E5M2, INT8
from acl_emu.spec import Bool, Example, Int, Plan, Product, StringKind, numbers, operator
from aclnnop.quant.dynamic import MODES, Groups, OffsetOut, Result, Rows, ScaleOut, Smooth, quantised
from aclnnop.quant.results import require_type

Mode = Annotated[str, StringKind(choices=MODES)]


@operator(products=frozenset({Product.A950}))
def aclnnDynamicQuantV3(
    x: Rows,
    smoothScalesOptional: Smooth,
    groupIndexOptional: Groups,
    dstType: Int,
    isSymmetrical: Bool,
    quantMode: Mode,
    yOut: Result,
    scaleOut: ScaleOut,
    offsetOut: OffsetOut,
) -> Plan:
    """Scale every row, every column, or all elements to the range of the type, around 0 or from the least number to the largest."""
    require_type("dstType", dstType, yOut)
    given = (x, smoothScalesOptional, groupIndexOptional, yOut, scaleOut, offsetOut)
    return quantised(*given, mode=quantMode, symmetrical=isSymmetrical)


@aclnnDynamicQuantV3.example
def examples() -> Iterator[Example]:
    """Each mode, around 0 and not, with groups and without."""
    for mode, symmetrical, smooth, target in (
        ("pertoken", True, (2, 16), INT8),
        ("pertensor", False, (16,), INT8),
        ("perchannel", True, (6,), FLOAT8_E5M2),
        ("perchannel", False, None, INT8),
    ):
        shape = {"pertoken": (2, 6), "pertensor": (1,), "perchannel": (2, 16)}[mode]
        yield {
            "x": numbers((2, 6, 16), BF16, 1, 9),
            "smoothScalesOptional": None if smooth is None else numbers(smooth, BF16, 2),
            "groupIndexOptional": np.array([5, 12], np.int32) if mode == "pertoken" else None,
            "dstType": target.code,
            "isSymmetrical": symmetrical,
            "quantMode": mode,
            "yOut": np.zeros((2, 6, 16), target.numpy),
            "scaleOut": numbers(shape, FLOAT, 3),
            "offsetOut": None if symmetrical else numbers(shape, FLOAT, 4),
        }
