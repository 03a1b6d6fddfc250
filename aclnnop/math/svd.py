"""aclnnSvd: singular values, and the orthogonal matrices that belong to them."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX64, DOUBLE, FLOAT
from acl_emu.spec import Array, ConstBool, Example, In, Operand, Out, Plan, numbers, operator, same_dtype, shape_is
from aclnnop.math.matrices import NUMBERS, adjoint, decomposed, each
from aclnnop.math.unary import NEWER

NumbersOut = Annotated[Operand, Out(*NUMBERS)]


@operator(products=NEWER)
def aclnnSvd(
    input: Annotated[Operand, In(*NUMBERS, rank=(2, 8))],
    fullMatrices: ConstBool,
    computeUV: ConstBool,
    sigma: NumbersOut,
    u: NumbersOut,
    v: NumbersOut,
) -> Plan:
    """Decompose matrices into ``u``, singular values from the largest to the smallest, and ``v``, which is not transposed."""
    same_dtype(input, sigma, u, v)
    *batch, rows, columns = input.shape
    few = min(rows, columns)
    shape_is(sigma, (*batch, few), "of the singular values")
    if not computeUV:
        return decomposed(values_alone, (input,), (sigma,))
    shape_is(u, (*batch, rows, rows if fullMatrices else few), "of the left singular vectors")
    shape_is(v, (*batch, columns, columns if fullMatrices else few), "of the right singular vectors")
    return decomposed(with_vectors, (input,), (sigma, u, v), full=fullMatrices)


def values_alone(matrices: Array) -> Array:
    """Without vectors."""
    (found,) = each(lambda some: np.linalg.svd(some, compute_uv=False), matrices, [(min(matrices.shape[-2:]),)])
    return found


def with_vectors(matrices: Array, *, full: bool) -> tuple[Array, Array, Array]:
    """Signs of the vectors are those of LAPACK."""
    rows, columns = matrices.shape[-2:]
    few = min(rows, columns)
    shapes = [(rows, rows if full else few), (few,), (columns if full else few, columns)]
    u, values, v = each(lambda some: tuple(np.linalg.svd(some, full_matrices=full)), matrices, shapes)
    return values, u, adjoint(v)


@aclnnSvd.example
def examples() -> Iterator[Example]:
    """More rows than columns, and fewer; all vectors, some and none."""
    for dtype, (rows, columns), full, vectors in (
        (FLOAT, (4, 3), True, True),
        (DOUBLE, (3, 4), False, True),
        (COMPLEX64, (4, 3), False, True),
        (FLOAT, (4, 3), True, False),
    ):
        yield {
            "input": numbers((2, rows, columns), dtype, 1),
            "fullMatrices": full,
            "computeUV": vectors,
            "sigma": numbers((2, 3), dtype, 2),
            "u": numbers((2, rows, rows if full else 3), dtype, 3),
            "v": numbers((2, columns, columns if full else 3), dtype, 4),
        }
