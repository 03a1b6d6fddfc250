"""aclnnRmsNorm: rows divided by the root of their mean square."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import (
    ALL,
    ConstFloatOut,
    Double,
    Example,
    FloatIn,
    Operand,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.norm.mean_square import ends_with, normalised_rows, over_rows
from aclnnop.norm.rows import LEAST_ROW
from aclnnop.norm.views import in_shapes, one_for_each_row


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnRmsNorm(
    x: FloatIn,
    gamma: FloatIn,
    epsilon: Double,
    yOut: ConstFloatOut,
    rstdOut: Annotated[Operand, Out(FLOAT, const=True)],
) -> Plan:
    """Divide ``x`` by the root of its mean square over the dimensions of ``gamma``, and multiply by ``gamma``."""
    old = soc.current().product is Product.A310P
    same_dtype(x, yOut)
    if old or gamma.dtype is not FLOAT:
        same_dtype(x, gamma)
    with in_tiling():
        require(x.rank > 0, "x has 0 dimensions, expected 1 to 8")
        kept = ends_with(x, gamma)
        long_enough(gamma)
        same_shape(x, yOut)
        rstd = one_for_each_row(rstdOut, kept)
    reads = ((x, x.shape), (gamma, gamma.shape))
    return in_shapes(normalised_rows, reads=reads, writes=((yOut, x.shape), (rstd, kept)), epsilon=epsilon, **over_rows(x, gamma))


def long_enough(gamma: Operand) -> None:
    """310P takes no short rows."""
    length = gamma.size * gamma.dtype.storage.itemsize
    short = soc.current().product is Product.A310P and length < LEAST_ROW
    require(not short, f"gamma has {length} bytes, expected at least {LEAST_ROW} on {soc.current().name}")


@aclnnRmsNorm.example
def examples() -> Iterator[Example]:
    """One type for all; rows of one dimension and of two."""
    calls = (
        (FLOAT, FLOAT, (16,), (2, 3, 1)),
        (FLOAT16, FLOAT16, (3, 16), (2, 1, 1)),
    )
    yield from (call(*one) for one in calls)


@aclnnRmsNorm.example_on(Product.A2, Product.A3, Product.A950)
def newer_examples() -> Iterator[Example]:
    """Types that 310P has not."""
    calls = (
        (BF16, BF16, (16,), (2, 3, 1)),
        (FLOAT16, FLOAT, (16,), (2, 3, 1)),
        (BF16, FLOAT, (2, 3, 16), (1, 1, 1)),
    )
    yield from (call(*one) for one in calls)


def call(dtype: DType, weight: DType, scaled: tuple[int, ...], rows: tuple[int, ...]) -> Example:
    """One of shape 2, 3, 16."""
    return {
        "x": numbers((2, 3, 16), dtype, 1, 3),
        "gamma": numbers(scaled, weight, 2),
        "epsilon": 1e-6,
        "yOut": numbers((2, 3, 16), dtype, 3),
        "rstdOut": numbers(rows, FLOAT, 4),
    }
