"""aclnnGemmaRmsNorm: rows divided by the root of their mean square, times one more than gamma."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, ConstFloatOut, Double, Example, FloatIn, Operand, Out, Plan, numbers, operator, same_dtype, same_shape
from acl_emu.spec.tiling import in_tiling
from aclnnop.math.unary import NEWER
from aclnnop.norm.mean_square import ends_with, normalised, over_rows
from aclnnop.norm.rows import Axes
from aclnnop.norm.views import in_shapes, one_for_each_row


@operator(products=NEWER)
def aclnnGemmaRmsNorm(
    x: FloatIn, gamma: FloatIn, epsilon: Double, yOut: ConstFloatOut, rstdOut: Annotated[Operand, Out(FLOAT, const=True)]
) -> Plan:
    """Divide ``x`` by the root of its mean square over the dimensions of ``gamma``, and multiply by ``1 + gamma``."""
    same_dtype(x, yOut)
    if gamma.dtype is not FLOAT:
        same_dtype(x, gamma)
    with in_tiling():
        kept = ends_with(x, gamma)
        same_shape(x, yOut)
        rstd = one_for_each_row(rstdOut, kept)
    reads = ((x, x.shape), (gamma, gamma.shape))
    return in_shapes(one_more, reads=reads, writes=((yOut, x.shape), (rstd, kept)), epsilon=epsilon, **over_rows(x, gamma))


def one_more(x: Array, gamma: Array, *, axes: Axes, count: int, epsilon: float) -> tuple[Array, Array]:
    """Times one more than gamma; and the factors."""
    values, rstd = normalised(x, axes, count, epsilon)
    return values * (1 + gamma), rstd


@aclnnGemmaRmsNorm.example
def examples() -> Iterator[Example]:
    """Rows of one dimension and of two, every pair of types."""
    for dtype, weight, scaled, rows in (
        (FLOAT, FLOAT, (16,), (2, 3, 1)),
        (FLOAT16, FLOAT16, (3, 16), (2, 1, 1)),
        (BF16, FLOAT, (16,), (2, 3, 1)),
    ):
        yield {
            "x": numbers((2, 3, 16), dtype, 1, 3),
            "gamma": numbers(scaled, weight, 2),
            "epsilon": 1e-6,
            "yOut": numbers((2, 3, 16), dtype, 3),
            "rstdOut": numbers(rows, FLOAT, 4),
        }
