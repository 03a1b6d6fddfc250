"""aclnnRmsNormGrad: gradients of RMS normalisation with respect to its input and to gamma."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import (
    ALL,
    ConstFloatOut,
    Example,
    FloatIn,
    In,
    Operand,
    Out,
    Plan,
    Product,
    length_is,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    together,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.norm.mean_square import ends_with, gamma_gradient, input_gradient, over_rows
from aclnnop.norm.rms_norm import long_enough
from aclnnop.norm.views import in_shapes


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnRmsNormGrad(
    dy: FloatIn,
    x: FloatIn,
    rstd: Annotated[Operand, In(FLOAT)],
    gamma: FloatIn,
    dxOut: ConstFloatOut,
    dgammaOut: Annotated[Operand, Out(FLOAT, const=True)],
) -> Plan:
    """Give both gradients, from the factors ``rstd`` of the rows."""
    with in_tiling():
        same_dtype(dy, x, dxOut)
        if soc.current().product is Product.A310P or gamma.dtype is not FLOAT:
            same_dtype(dy, gamma)
        require(x.rank > 0, "x has 0 dimensions, expected 1 to 8")
        kept = ends_with(x, gamma)
        long_enough(gamma)
        same_shape(dy, x, dxOut)
        length_is(rstd, x.size // gamma.size, "one for each row of x")
        same_shape(gamma, dgammaOut)
    shape, rows = x.shape, over_rows(x, gamma)
    reads = ((dy, shape), (x, shape), (rstd, kept))
    first = tuple(range(x.rank - gamma.rank))
    return together(
        [
            in_shapes(input_gradient, reads=(*reads, (gamma, gamma.shape)), writes=((dxOut, shape),), **rows),
            in_shapes(gamma_gradient, reads=reads, writes=((dgammaOut, gamma.shape),), axes=first),
        ]
    )


def call(dtype: DType, weight: DType, scaled: tuple[int, ...], rows: tuple[int, ...]) -> Example:
    """One of shape 2, 3, 16."""
    return {
        "dy": numbers((2, 3, 16), dtype, 1),
        "x": numbers((2, 3, 16), dtype, 2, 3),
        "rstd": abs(numbers(rows, FLOAT, 3)),
        "gamma": numbers(scaled, weight, 4),
        "dxOut": numbers((2, 3, 16), dtype, 5),
        "dgammaOut": numbers(scaled, FLOAT, 6),
    }


@aclnnRmsNormGrad.example
def examples() -> Iterator[Example]:
    """One type for all."""
    yield call(FLOAT, FLOAT, (16,), (2, 3))
    yield call(FLOAT16, FLOAT16, (3, 16), (2, 1, 1))


@aclnnRmsNormGrad.example_on(Product.A2, Product.A3, Product.A950)
def newer_examples() -> Iterator[Example]:
    """Types that 310P has not."""
    yield call(BF16, BF16, (16,), (2, 3, 1))
    yield call(BF16, FLOAT, (16,), (6,))
    yield call(FLOAT16, FLOAT, (2, 3, 16), (1,))
