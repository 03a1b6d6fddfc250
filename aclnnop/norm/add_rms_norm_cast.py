"""aclnnAddRmsNormCast: the rows of a sum, divided by the root of their mean square, in FLOAT and in their own type."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, Double, Example, In, Operand, Out, Plan, numbers, operator, rank_in, require, same_dtype, same_shape
from acl_emu.spec.tiling import in_tiling
from aclnnop.math.unary import NEWER
from aclnnop.norm.mean_square import ends_with, normalised_rows, over_rows
from aclnnop.norm.rows import Axes
from aclnnop.norm.views import in_shapes, one_for_each_row

HALVES = (FLOAT16, BF16)
RANKS = range(1, 9)
Rows = Annotated[Operand, In(*HALVES, rank=(1, 8))]
HalvesOut = Annotated[Operand, Out(*HALVES, rank=(1, 8), const=True)]


@operator(products=NEWER)
def aclnnAddRmsNormCast(
    x1: Rows,
    x2: Rows,
    gamma: Rows,
    epsilon: Double,
    y1Out: Annotated[Operand, Out(FLOAT, rank=(1, 8), const=True)],
    y2Out: HalvesOut,
    rstdOut: Annotated[Operand, Out(FLOAT, const=True)],
    xOut: HalvesOut,
) -> Plan:
    """Add, divide by the root of the mean square over the dimensions of ``gamma``, multiply by ``gamma``; in two types."""
    same_dtype(x1, x2, gamma, y2Out, xOut)
    for out in (y1Out, y2Out, xOut):
        rank_in(out, *RANKS)
    with in_tiling():
        require(epsilon >= 0, f"epsilon is {epsilon}, expected a value of at least 0")
        kept = ends_with(x1, gamma)
        same_shape(x1, x2, y1Out, y2Out, xOut)
        rstd = one_for_each_row(rstdOut, kept)
    shape = x1.shape
    return in_shapes(
        both_types,
        reads=((x1, shape), (x2, shape), (gamma, gamma.shape)),
        writes=((y1Out, shape), (y2Out, shape), (rstd, kept), (xOut, shape)),
        epsilon=epsilon,
        **over_rows(x1, gamma),
    )


def both_types(x1: Array, x2: Array, gamma: Array, *, axes: Axes, count: int, epsilon: float) -> tuple[Array, ...]:
    """The results once more: each is rounded to the type of its output."""
    x = x1 + x2
    values, rstd = normalised_rows(x, gamma, axes=axes, count=count, epsilon=epsilon)
    return values, values * 1, rstd, x


@aclnnAddRmsNormCast.example
def examples() -> Iterator[Example]:
    """Both types."""
    for dtype, gamma, rstd in ((FLOAT16, (16,), (2, 3, 1)), (BF16, (3, 16), (2, 1, 1))):
        yield {
            "x1": numbers((2, 3, 16), dtype, 1),
            "x2": numbers((2, 3, 16), dtype, 2),
            "gamma": numbers(gamma, dtype, 3),
            "epsilon": 1e-6,
            "y1Out": numbers((2, 3, 16), FLOAT, 4),
            "y2Out": numbers((2, 3, 16), dtype, 5),
            "rstdOut": numbers(rstd, FLOAT, 6),
            "xOut": numbers((2, 3, 16), dtype, 7),
        }
