"""aclnnLogdet: the logarithm of a determinant."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX64, DOUBLE, FLOAT
from acl_emu.spec import ALL, Array, Example, In, Operand, Out, Plan, Product, numbers, operator, shape_is
from aclnnop.math.matrices import NUMBERS, decomposed, require_square
from aclnnop.math.slogdet import signs


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnLogdet(self: Annotated[Operand, In(*NUMBERS, rank=(2, 8))], out: Annotated[Operand, Out(*NUMBERS)]) -> Plan:
    """Take the logarithm of each determinant: NaN for a negative one, minus infinity for 0."""
    require_square(self)
    shape_is(out, self.shape[:-2], "of the batch")
    return decomposed(logarithm, (self,), (out,))


def logarithm(matrices: Array) -> Array:
    """Of a complex number it has the angle as its imaginary part."""
    sign, magnitude = signs(matrices)
    found: Array = magnitude + 1j * np.angle(sign) if matrices.dtype.kind == "c" else np.where(sign < 0, np.nan, magnitude)
    return found


@aclnnLogdet.example
def examples() -> Iterator[Example]:
    """A batch, and a single matrix."""
    for dtype, shape in ((FLOAT, (4, 3, 3)), (DOUBLE, (3, 3)), (COMPLEX64, (2, 3, 3))):
        yield {"self": numbers(shape, dtype, 1), "out": numbers(shape[:-2], dtype, 2)}
