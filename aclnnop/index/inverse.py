"""aclnnInverse: the inverse of a matrix."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, Product, numbers, operator, same_dtype, same_shape
from aclnnop.math.matrices import decomposed, require_square
from aclnnop.math.unary import NEWER

TYPES = (FLOAT, FLOAT16, DOUBLE)
ON = {Product.A2: (FLOAT, FLOAT16), Product.A910: (FLOAT, DOUBLE)}


@operator(products=NEWER)
def aclnnInverse(
    self: Annotated[Operand, In(*TYPES, rank=(2, 8), on=ON)], out: Annotated[Operand, Out(*TYPES, rank=(2, 8), on=ON)]
) -> Plan:
    """Invert square matrices."""
    same_dtype(self, out)
    same_shape(self, out)
    require_square(self)
    return decomposed(inverse, (self,), (out,))


@aclnnInverse.example
def examples() -> Iterator[Example]:
    """A batch, and a single matrix."""
    for dtype, shape in ((FLOAT, (2, 3, 3)), (FLOAT16, (4, 4))):
        yield {"self": (numbers(shape, np.float64, 1) + 3 * np.eye(shape[-1])).astype(dtype.numpy), "out": numbers(shape, dtype, 2)}


def inverse(matrices: Array) -> Array:
    """A matrix without an inverse is a fault."""
    try:
        found: Array = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        raise DeviceFault("self holds a singular matrix, which has no inverse") from None
    return found
