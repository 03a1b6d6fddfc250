"""aclnnQr: an orthogonal and an upper triangular matrix whose product is a given one."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX64, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, Bool, Example, In, Operand, Out, Plan, Product, numbers, operator, shape_is
from aclnnop.math.matrices import WITH_HALF, decomposed

MatrixIn = Annotated[Operand, In(*WITH_HALF, rank=(2, 8))]
MatrixOut = Annotated[Operand, Out(*WITH_HALF)]


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnQr(self: MatrixIn, some: Bool, Q: MatrixOut, R: MatrixOut) -> Plan:
    """Decompose matrices; with ``some`` only as many columns of ``Q`` and rows of ``R`` as the shorter side has."""
    return factors(self, "reduced" if some else "complete", Q, R)


def factors(self: Operand, mode: str, Q: Operand, R: Operand) -> Plan:
    """``self = Q R``, in one of numpy's modes; ``r`` leaves ``Q`` alone."""
    *batch, rows, columns = self.shape
    inner = rows if mode == "complete" else min(rows, columns)
    if mode != "r":
        shape_is(Q, (*batch, rows, inner), "of Q")
    shape_is(R, (*batch, inner, columns), "of R")
    if mode == "r":
        return decomposed(upper_factor, (self,), (R,))
    return decomposed(both_factors, (self,), (Q, R), mode=mode)


def both_factors(matrices: Array, *, mode: str) -> tuple[Array, Array]:
    """Signs are those of LAPACK: the diagonal of ``R`` may be negative."""
    found = np.linalg.qr(matrices, mode="complete" if mode == "complete" else "reduced")
    return found[0], found[1]


def upper_factor(matrices: Array) -> Array:
    """The triangle alone."""
    return np.asarray(np.linalg.qr(matrices, mode="r"))


@aclnnQr.example
def examples() -> Iterator[Example]:
    """More rows than columns, and fewer; all of it and some."""
    for dtype, (rows, columns), some in (
        (FLOAT, (4, 3), True),
        (FLOAT16, (3, 4), False),
        (DOUBLE, (4, 3), False),
        (COMPLEX64, (3, 3), True),
    ):
        inner = min(rows, columns) if some else rows
        yield {
            "self": numbers((2, rows, columns), dtype, 1),
            "some": some,
            "Q": numbers((2, rows, inner), dtype, 2),
            "R": numbers((2, inner, columns), dtype, 3),
        }
