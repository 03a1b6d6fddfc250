"""aclnnDynamicMxQuant: blocks along an axis, each divided by a power of two and rounded to eight or four bits."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Example, Int, Plan, Product, numbers, operator
from aclnnop.quant.microscaling import Numbers, Result, RoundMode, Scales, quantised, scales_shape

NEWEST = frozenset({Product.A950})


@operator(products=NEWEST, elsewhere=AclnnRuntime)
def aclnnDynamicMxQuant(
    x: Numbers, axis: Int, roundModeOptional: RoundMode, dstType: Int, blocksize: Int, scaleAlg: Int, yOut: Result, mxscaleOut: Scales
) -> Plan:
    """Divide every block by a power of two that brings its largest number into the type's range; ``mxscaleOut`` has the exponents."""
    return quantised(x, axis, roundModeOptional, dstType, blocksize, scaleAlg, yOut, mxscaleOut)


@aclnnDynamicMxQuant.example
def examples() -> Iterator[Example]:
    """Along each axis; parts of blocks; both algorithms."""
    for dtype, shape, axis, block, algorithm, target in (
        (BF16, (3, 70), -1, 32, 0, FLOAT8_E4M3FN),
        (FLOAT16, (70, 3), 0, 64, 1, FLOAT8_E5M2),
        (FLOAT, (2, 33, 2), 1, 32, 1, FLOAT8_E4M3FN),
    ):
        yield {
            "x": numbers(shape, dtype, 1, 90),
            "axis": axis,
            "roundModeOptional": None if algorithm else "rint",
            "dstType": target.code,
            "blocksize": block,
            "scaleAlg": algorithm,
            "yOut": np.zeros(shape, target.numpy),
            "mxscaleOut": np.ones(scales_shape(shape, axis % len(shape), block), FLOAT8_E8M0.numpy),
        }
