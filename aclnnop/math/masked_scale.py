"""aclnnMaskedScale: the product of a tensor, a mask and a number."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, UINT8
from acl_emu.spec import (
    Array,
    Example,
    Float,
    FloatIn,
    FloatOut,
    In,
    Operand,
    Plan,
    Product,
    between,
    mapped,
    numbers,
    operator,
    same_dtype,
    same_shape,
)


@operator(products=frozenset({Product.A950}))
def aclnnMaskedScale(self: FloatIn, mask: Annotated[Operand, In(UINT8, INT8, FLOAT16, FLOAT)], scale: Float, y: FloatOut) -> Plan:
    """Multiply every element by that of ``mask`` and by ``scale``."""
    same_dtype(self, y)
    same_shape(self, mask, y)
    return mapped(product, reads=(self, mask), writes=(y,), dtype=self.dtype, scale=scale)


def product(x: Array, mask: Array, *, scale: float) -> Array:
    """The formula."""
    found: Array = x * mask * np.float32(scale)
    return found


@aclnnMaskedScale.example
def examples() -> Iterator[Example]:
    """Each type of mask."""
    for dtype, of in ((FLOAT, UINT8), (FLOAT16, INT8), (BF16, FLOAT), (FLOAT, FLOAT16)):
        yield {"self": numbers((3, 5), dtype, 1), "mask": between(0, 3, (3, 5), of, 2), "scale": 1.25, "y": numbers((3, 5), dtype, 3)}
