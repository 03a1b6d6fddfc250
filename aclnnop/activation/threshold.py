"""aclnnThreshold and aclnnInplaceThreshold: elements that are not above a threshold are replaced."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, promote_types
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    ScalarIn,
    castable,
    in_place,
    numbers,
    operator,
    promote_scalar,
    require,
    same_shape,
)
from aclnnop.activation.pointwise import NEWER, applied, number
from aclnnop.math.unary import FLOATS

TYPES = (*FLOATS, INT32, INT8, UINT8, INT16, INT64)


@operator(products=NEWER | {Product.A910})
def aclnnThreshold(
    self: Annotated[Operand, In(*TYPES)], threshold: ScalarIn, value: ScalarIn, out: Annotated[Operand, Out(*TYPES)]
) -> Plan:
    """Replace every element that is not above ``threshold`` by ``value``."""
    types = promote_scalar(self, threshold, "threshold"), promote_scalar(self, value, "value")
    via = promote_types(*types)
    require(via is not None, f"threshold and value have dtypes {threshold.dtype} and {value.dtype}, which cannot be combined")
    assert via is not None
    castable(via, out)
    same_shape(self, out)
    least, replacement = number(threshold, via), number(value, via)

    def kernel(x: Array) -> Array:
        return np.where(x > least, x, replacement)

    return applied(kernel, via, (self,), out)


aclnnInplaceThreshold = in_place(aclnnThreshold)


@aclnnThreshold.example
def examples() -> Iterator[Example]:
    """Floating-point and integers."""
    for dtype, threshold, value in ((FLOAT, 0.25, 10.0), (FLOAT16, 0.3, -1), (INT32, 1, 7)):
        yield {"self": numbers((3, 5), dtype, 1, 3), "threshold": threshold, "value": value, "out": numbers((3, 5), dtype, 2)}
