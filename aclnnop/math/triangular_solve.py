"""aclnnTriangularSolve: systems of equations whose matrix is triangular."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX64, DOUBLE, FLOAT
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import ALL, Array, Bool, Example, In, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, shape_is
from aclnnop.math.matrices import NUMBERS, decomposed, require_square

MatrixIn = Annotated[Operand, In(*NUMBERS, rank=(2, 8))]
MatrixOut = Annotated[Operand, Out(*NUMBERS)]


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnTriangularSolve(
    self: MatrixIn, A: MatrixIn, upper: Bool, transpose: Bool, unitriangular: Bool, xOut: MatrixOut, mOut: MatrixOut
) -> Plan:
    """Solve ``A X = self``, or with the transpose of ``A``; ``mOut`` is the triangle of ``A`` that was used."""
    same_dtype(self, A, xOut, mOut)
    require(not unitriangular or self.dtype is FLOAT, f"self has dtype {self.dtype}, expected ACL_FLOAT where unitriangular is set")
    require_square(A)
    rows, columns = self.shape[-2:]
    require(rows == A.shape[-1], f"self has shape {list(self.shape)}, expected as many rows as A has: {A.shape[-1]}")
    batch = joined(self, A)
    shape_is(xOut, (*batch, rows, columns), "of the solutions")
    shape_is(mOut, (*batch, rows, rows), "of A")
    settings = {"upper": upper, "transpose": transpose, "unit": unitriangular}
    return decomposed(substituted, (self, A), (xOut, mOut), batch=batch, **settings)


def joined(first: Operand, second: Operand) -> Shape:
    """What the batches of two tensors of matrices broadcast to."""
    try:
        return np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    except ValueError:
        require(
            False,
            f"{second.name} has shape {list(second.shape)}, whose batch does not broadcast with that of {first.name}: {list(first.shape)}",
        )
        raise


def substituted(right: Array, matrices: Array, *, batch: Shape, upper: bool, transpose: bool, unit: bool) -> tuple[Array, Array]:
    """Row by row, from the one with a single unknown; all matrices and all columns at once."""
    triangle = np.triu(matrices) if upper else np.tril(matrices)
    used = np.swapaxes(triangle, -1, -2) if transpose else triangle
    rows = used.shape[-1]
    found = np.broadcast_to(right, (*batch, *right.shape[-2:])).copy()
    order = range(rows)[::-1] if upper != transpose else range(rows)
    for row in order:
        known = slice(row + 1, None) if upper != transpose else slice(None, row)
        found[..., row, :] -= (used[..., row : row + 1, known] @ found[..., known, :])[..., 0, :]
        if not unit:
            found[..., row, :] /= used[..., row, row, np.newaxis]
    return found, np.broadcast_to(triangle, (*batch, rows, rows))


@aclnnTriangularSolve.example
def examples() -> Iterator[Example]:
    """Each triangle, as it is and transposed; batches that broadcast."""
    for dtype, upper, transpose, unit in (
        (FLOAT, True, False, False),
        (FLOAT, False, True, True),
        (DOUBLE, False, False, False),
        (COMPLEX64, True, True, False),
    ):
        yield {
            "self": numbers((2, 3, 2), dtype, 1),
            "A": (numbers((4, 1, 3, 3), dtype, 2) + 2 * np.eye(3)).astype(dtype.numpy),
            "upper": upper,
            "transpose": transpose,
            "unitriangular": unit,
            "xOut": numbers((4, 2, 3, 2), dtype, 3),
            "mOut": numbers((4, 2, 3, 3), dtype, 4),
        }
