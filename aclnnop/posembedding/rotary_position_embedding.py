"""aclnnRotaryPositionEmbedding: pairs of elements of every row, rotated by the angle of their position."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import DType
from acl_emu.spec import ALL, Example, In, Int, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, same_shape
from acl_emu.spec.tiling import in_tiling
from aclnnop.math.unary import FLOATS
from aclnnop.posembedding.rotation import Mode, fits, modes_here, rotated

Rows = Annotated[Operand, In(*FLOATS, rank=(3, 4))]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnRotaryPositionEmbedding(x: Rows, cos: Rows, sin: Rows, mode: Int, out: Annotated[Operand, Out(*FLOATS, rank=(3, 4))]) -> Plan:
    """Turn the pairs of elements that ``mode`` names by the angles whose cosines and sines are given."""
    same_dtype(x, cos, sin, out)
    require(out.rank == x.rank, f"out has {out.rank} dimensions, expected as many as x: {x.rank}")
    with in_tiling():
        known = modes_here()
        require(mode in known, f"mode is {mode}, expected one of {', '.join(str(int(one)) for one in known)}")
        same_shape(x, out)
        fits(x, cos, sin, Mode(mode))
    return rotated(x, cos, sin, out, Mode(mode))


def call(dtype: DType, shape: tuple[int, ...], angles: tuple[int, ...], mode: int) -> Example:
    """One of these shapes."""
    return {
        "x": numbers(shape, dtype, 1),
        "cos": numbers(angles, dtype, 2),
        "sin": numbers(angles, dtype, 3),
        "mode": mode,
        "out": numbers(shape, dtype, 4),
    }


@aclnnRotaryPositionEmbedding.example
def examples() -> Iterator[Example]:
    """What all products have; heads before positions, behind them, and packed."""
    yield call(FLOATS[0], (2, 3, 4, 32), (1, 1, 4, 32), Mode.HALF)
    yield call(FLOATS[1], (2, 4, 3, 32), (2, 4, 1, 32), Mode.HALF)
    yield call(FLOATS[2], (4, 3, 32), (4, 1, 32), Mode.HALF)


@aclnnRotaryPositionEmbedding.example_on(Product.A2, Product.A3, Product.A950)
def interleaved_examples() -> Iterator[Example]:
    """Neighbours."""
    yield call(FLOATS[0], (2, 3, 4, 8), (1, 1, 4, 8), Mode.INTERLEAVE)
    yield call(FLOATS[1], (4, 3, 8), (4, 1, 8), Mode.INTERLEAVE)


@aclnnRotaryPositionEmbedding.example_on(Product.A950)
def newest_examples() -> Iterator[Example]:
    """The other pairs."""
    yield call(FLOATS[0], (2, 3, 4, 8), (2, 1, 4, 8), Mode.QUARTER)
    yield call(FLOATS[2], (2, 3, 4, 8), (1, 1, 1, 8), Mode.INTERLEAVE_HALF)
