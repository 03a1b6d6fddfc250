"""aclnnInplaceAddRmsNorm: the rows of a sum, divided by the root of their mean square, and the sum, both in place."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Double, Example, In, InOut, Operand, Out, Plan, Product, numbers, operator, same_dtype, same_shape
from aclnnop.math.unary import FLOATS
from aclnnop.norm.mean_square import added_rows, ends_with, over_rows
from aclnnop.norm.views import in_shapes, one_for_each_row

Changed = Annotated[Operand, InOut(*FLOATS, rank=(1, 8), const=False)]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnInplaceAddRmsNorm(
    x1Ref: Changed,
    x2Ref: Changed,
    gamma: Annotated[Operand, In(*FLOATS, rank=(1, 8))],
    epsilon: Double,
    rstdOut: Annotated[Operand, Out(FLOAT, const=True)],
) -> Plan:
    """``x1Ref`` becomes the rows, divided and multiplied by ``gamma``; ``x2Ref`` the sum of both."""
    same_dtype(x1Ref, x2Ref, gamma)
    same_shape(x1Ref, x2Ref)
    kept = ends_with(x1Ref, gamma)
    shape = x1Ref.shape
    return in_shapes(
        added_rows,
        reads=((x1Ref, shape), (x2Ref, shape), (gamma, gamma.shape)),
        writes=((x1Ref, shape), (one_for_each_row(rstdOut, kept), kept), (x2Ref, shape)),
        epsilon=epsilon,
        wanted=(True, True, True),
        **over_rows(x1Ref, gamma),
    )


@aclnnInplaceAddRmsNorm.example
def examples() -> Iterator[Example]:
    """Rows of one dimension and of two."""
    for dtype, gamma, rstd in ((FLOAT, (16,), (2, 3, 1)), (FLOAT16, (3, 16), (2, 1, 1)), (BF16, (16,), (2, 3, 1))):
        yield {
            "x1Ref": numbers((2, 3, 16), dtype, 1),
            "x2Ref": numbers((2, 3, 16), dtype, 2),
            "gamma": numbers(gamma, dtype, 3),
            "epsilon": 1e-6,
            "rstdOut": numbers(rstd, FLOAT, 4),
        }
