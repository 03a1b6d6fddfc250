"""aclnnAddRmsNorm: the rows of a sum, divided by the root of their mean square."""

from collections.abc import Iterator
from typing import Annotated, Any

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    AFTER_NULL,
    ALL,
    NULL,
    Double,
    Example,
    In,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.mean_square import added_rows, ends_with, over_rows
from aclnnop.norm.views import in_shapes, one_for_each_row

Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8))]
OptionalRowsOut = Annotated[Operand | None, Out(*FLOATS, rank=(1, 8), optional=True)]
OptionalRstd = Annotated[Operand | None, Out(FLOAT, optional=True)]


def sum_with_factors(operator: Operator, values: tuple[Any, ...]) -> None:
    """Where the factors are wanted the sum is, too."""
    *_, rstd, x = values
    if rstd is not None and x is None:
        raise AclnnNullptr("xOut must not be a null pointer where rstdOut is given")


@operator(products=ALL - {Product.A310B, Product.A910}, checks=(NULL, sum_with_factors, *AFTER_NULL))
def aclnnAddRmsNorm(x1: Rows, x2: Rows, gamma: Rows, epsilon: Double, yOut: RowsOut, rstdOut: OptionalRstd, xOut: OptionalRowsOut) -> Plan:
    """Add, divide by the root of the mean square over the dimensions of ``gamma``, and multiply by ``gamma``."""
    same_dtype(x1, x2, gamma, yOut, xOut)
    require(epsilon >= 0, f"epsilon is {epsilon}, expected a value of at least 0")
    same_shape(x1, x2, yOut)
    if xOut is not None:
        same_shape(x1, xOut)
    if rstdOut is None and gamma.shape == (1, x1.shape[-1]):
        gamma = gamma.in_view(gamma.shape[1:], gamma.view.strides[1:])
    kept = ends_with(x1, gamma)
    writes = [(yOut, x1.shape)]
    if rstdOut is not None:
        writes.append((one_for_each_row(rstdOut, kept), kept))
    if xOut is not None:
        writes.append((xOut, x1.shape))
    return in_shapes(
        added_rows,
        reads=((x1, x1.shape), (x2, x1.shape), (gamma, gamma.shape)),
        writes=writes,
        epsilon=epsilon,
        wanted=(True, rstdOut is not None, xOut is not None),
        **over_rows(x1, gamma),
    )


@aclnnAddRmsNorm.example
def examples() -> Iterator[Example]:
    """Every row of the page's table of results that are wanted."""
    for dtype, gamma, rstd, x in (
        (FLOAT, (16,), (2, 3, 1), True),
        (FLOAT16, (3, 16), (2, 1, 1), True),
        (BF16, (16,), (2, 3, 1), True),
        (FLOAT16, (1, 16), None, False),
        (BF16, (1, 16), None, True),
    ):
        yield {
            "x1": numbers((2, 3, 16), dtype, 1),
            "x2": numbers((2, 3, 16), dtype, 2),
            "gamma": numbers(gamma, dtype, 3),
            "epsilon": 1e-6,
            "yOut": numbers((2, 3, 16), dtype, 4),
            "rstdOut": numbers(rstd, FLOAT, 5) if rstd else None,
            "xOut": numbers((2, 3, 16), dtype, 6) if x else None,
        }
