"""aclnnSinkhorn: a plan of transport whose rows and columns all have the same sums."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    Operand,
    Out,
    Plan,
    Product,
    between,
    castable,
    direct,
    nothing,
    numbers,
    operator,
    same_shape,
)

DEFAULT_TOLERANCE = 1e-4
SMALL = 1e-8
MOST_ROUNDS = 10_000
"""After which it ends, however large the error is: with a tolerance of 0 it might not."""


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnSinkhorn(
    cost: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2)],
    tol: Annotated[Scalar | None, HandleKind(Scalar, FLOAT, optional=True)],
    p: Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=2)],
) -> Plan:
    """Scale rows and columns of ``exp(cost)`` in turn, until the scales of the columns differ by ``tol`` on average."""
    castable(cost.dtype, p)
    same_shape(cost, p)
    tolerance = DEFAULT_TOLERANCE if tol is None else float(tol.value)
    return nothing() if p.size == 0 else direct(balanced, reads=(cost,), writes=(p,), scratch={}, tolerance=tolerance)


def balanced(cost: Array, p: Array, *, tolerance: float) -> None:
    """An error that is not a number ends it, too."""
    weights = np.exp(cost.astype(np.float64))
    rows, columns = weights.shape
    right = np.ones(columns)
    for _ in range(MOST_ROUNDS):
        before = right
        left = 1 / (rows * (weights @ right + SMALL))
        right = 1 / (columns * (left @ weights + SMALL))
        if not np.abs(before - right).mean() > tolerance:
            break
    p[...] = dtypes.round_to(right * weights * left[:, np.newaxis], dtypes.from_numpy(p.dtype))


@aclnnSinkhorn.example
def examples() -> Iterator[Example]:
    """A tolerance, and the usual one."""
    for dtype, tol in ((FLOAT, 1e-3), (FLOAT16, None), (BF16, 1e-5)):
        yield {"cost": between(0, 1, (5, 3), dtype, 1), "tol": tol, "p": numbers((5, 3), dtype, 2)}
