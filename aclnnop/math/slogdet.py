"""aclnnSlogdet: the sign of a determinant, and the logarithm of its magnitude."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX64, DOUBLE, FLOAT
from acl_emu.spec import ALL, Array, Example, In, Operand, Out, Plan, Product, numbers, operator, shape_is
from aclnnop.math.matrices import NUMBERS, decomposed, require_square

NumbersOut = Annotated[Operand, Out(*NUMBERS)]


@operator(products=ALL - {Product.A310B})
def aclnnSlogdet(self: Annotated[Operand, In(*NUMBERS, rank=(2, 8))], signOut: NumbersOut, logOut: NumbersOut) -> Plan:
    """Give the sign of each determinant, and the logarithm of its magnitude: 0 and minus infinity for a singular matrix."""
    require_square(self)
    for out in (signOut, logOut):
        shape_is(out, self.shape[:-2], "of the batch")
    return decomposed(signs, (self,), (signOut, logOut))


def signs(matrices: Array) -> tuple[Array, Array]:
    """The sign of a complex determinant is a number of magnitude 1."""
    found = np.linalg.slogdet(matrices)
    return np.asarray(found[0]), np.asarray(found[1])


@aclnnSlogdet.example
def examples() -> Iterator[Example]:
    """A batch, and a single matrix; results of a wider type."""
    for dtype, out, shape in (
        (FLOAT, FLOAT, (4, 3, 3)),
        (DOUBLE, DOUBLE, (3, 3)),
        (COMPLEX64, COMPLEX64, (2, 3, 3)),
        (FLOAT, COMPLEX64, (2, 2, 2)),
    ):
        yield {"self": numbers(shape, dtype, 1), "signOut": numbers(shape[:-2], out, 2), "logOut": numbers(shape[:-2], out, 3)}
