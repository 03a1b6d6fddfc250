"""aclnnDynamicQuant: rows, each scaled to the range of a narrow type."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, INT32
from acl_emu.spec import ALL, Example, Plan, Product, numbers, operator
from aclnnop.quant.dynamic import Result, Rows, ScaleOut, Smooth, quantised


@operator(products=ALL - {Product.A310B})
def aclnnDynamicQuant(x: Rows, smoothScalesOptional: Smooth, yOut: Result, scaleOut: ScaleOut) -> Plan:
    """Divide every row by what makes its largest number that of the type, and round; ``scaleOut`` is what it was divided by."""
    return quantised(x, smoothScalesOptional, None, yOut, scaleOut, None)


@aclnnDynamicQuant.example
def examples() -> Iterator[Example]:
    """With factors for each column, and without."""
    for smooth in (False, True):
        yield {
            "x": numbers((2, 3, 32), FLOAT16, 1, 9),
            "smoothScalesOptional": numbers((32,), FLOAT16, 2) if smooth else None,
            "yOut": np.zeros((2, 3, 32), np.int8),
            "scaleOut": numbers((2, 3), FLOAT, 3),
        }


@aclnnDynamicQuant.example_on(Product.A950, Product.A3, Product.A2)
def packed() -> Iterator[Example]:
    """Eight numbers in one."""
    yield {
        "x": numbers((3, 16), BF16, 1, 9),
        "smoothScalesOptional": None,
        "yOut": np.zeros((3, 2), INT32.numpy),
        "scaleOut": numbers((3,), FLOAT, 3),
    }


@aclnnDynamicQuant.example_on(Product.A950)
def of_eight_bits() -> Iterator[Example]:
    """Floats."""
    yield {
        "x": numbers((3, 16), BF16, 1, 9),
        "smoothScalesOptional": numbers((16,), BF16, 2),
        "yOut": np.zeros((3, 16), FLOAT8_E4M3FN.numpy),
        "scaleOut": numbers((3,), FLOAT, 3),
    }
