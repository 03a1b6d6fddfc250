"""aclnnLinalgCholesky: a triangular matrix whose product with its transpose is a given one."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, DType
from acl_emu.spec import Array, Bool, Example, In, Operand, Out, Plan, Product, numbers, operator, same_dtype, same_shape
from aclnnop.math.matrices import adjoint, decomposed, each, require_square

TYPES = (FLOAT, BF16)


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnLinalgCholesky(
    self: Annotated[Operand, In(*TYPES, rank=(2, 8))], upper: Bool, out: Annotated[Operand, Out(*TYPES, rank=(2, 8))]
) -> Plan:
    """Decompose symmetric, positive definite matrices, of which one triangle is read; NaN where one is not positive definite."""
    same_dtype(self, out)
    same_shape(self, out)
    require_square(self)
    return decomposed(triangle, (self,), (out,), upper=upper)


def triangle(matrices: Array, *, upper: bool) -> Array:
    """The lower triangle, or its transpose."""
    given = adjoint(matrices) if upper else matrices
    (found,) = each(np.linalg.cholesky, given, [matrices.shape[-2:]])
    return adjoint(found) if upper else found


@aclnnLinalgCholesky.example
def examples() -> Iterator[Example]:
    """Both triangles."""
    for dtype, upper in ((FLOAT, False), (BF16, True)):
        yield {"self": definite((2, 3, 3), dtype), "upper": upper, "out": numbers((2, 3, 3), dtype, 2)}


def definite(shape: tuple[int, ...], dtype: DType) -> Array:
    """Matrices that have such a triangle."""
    half = numbers(shape, np.float64, 1)
    found: Array = (half @ adjoint(half) + np.eye(shape[-1])).astype(dtype.numpy)
    return found
