"""aclnnDynamicQuantV2: rows, each scaled to the range of a narrow type, with an offset or without."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8
from acl_emu.spec import ALL, Example, Int, Plan, Product, numbers, operator
from aclnnop.quant.dynamic import Groups, OffsetOut, Result, Rows, ScaleOut, Smooth, quantised
from aclnnop.quant.results import require_type


@operator(products=ALL - {Product.A310B})
def aclnnDynamicQuantV2(
    x: Rows, smoothScalesOptional: Smooth, groupIndexOptional: Groups, dstType: Int, yOut: Result, scaleOut: ScaleOut, offsetOut: OffsetOut
) -> Plan:
    """Scale every row to the range of the type, around 0, or from its least number to its largest where ``offsetOut`` is given."""
    require_type("dstType", dstType, yOut)
    return quantised(x, smoothScalesOptional, groupIndexOptional, yOut, scaleOut, offsetOut, symmetrical=offsetOut is None)


@aclnnDynamicQuantV2.example
def examples() -> Iterator[Example]:
    """With an offset and without, with groups and without."""
    for grouped, offset in ((False, False), (False, True), (True, True)):
        yield {
            "x": numbers((4, 32), FLOAT16, 1, 9),
            "smoothScalesOptional": numbers((2, 32), FLOAT16, 2) if grouped else None,
            "groupIndexOptional": np.array([1, 4], np.int32) if grouped else None,
            "dstType": INT8.code,
            "yOut": np.zeros((4, 32), np.int8),
            "scaleOut": numbers((4,), FLOAT, 3),
            "offsetOut": numbers((4,), FLOAT, 4) if offset else None,
        }
