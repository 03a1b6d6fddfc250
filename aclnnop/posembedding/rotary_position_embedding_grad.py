"""aclnnRotaryPositionEmbeddingGrad: gradients of rotary position embeddings with respect to rows, cosines and sines."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT, DType
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    same_shape,
    together,
    total,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.rows import Axes
from aclnnop.posembedding.rotation import PAIRED, Mode, fits

MODES = {Product.A950: tuple(Mode)}
FEWER = (Mode.HALF, Mode.INTERLEAVE)
Rows = Annotated[Operand, In(*FLOATS, rank=(3, 4))]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(3, 4), const=True)]
AnglesOut = Annotated[Operand | None, Out(*FLOATS, rank=(3, 4), optional=True, const=True)]


@operator(products=NEWER)
def aclnnRotaryPositionEmbeddingGrad(
    dy: Rows,
    cos: Rows,
    sin: Rows,
    xOptional: Annotated[Operand | None, In(*FLOATS, rank=(3, 4), optional=True)],
    mode: Int,
    dxOut: RowsOut,
    dcosOut: AnglesOut,
    dsinOut: AnglesOut,
) -> Plan:
    """Turn the gradient back; with ``xOptional`` give those of cosines and sines, too."""
    same_dtype(dy, cos, sin, xOptional, dxOut, dcosOut, dsinOut)
    require(dxOut.rank == dy.rank, f"dxOut has {dxOut.rank} dimensions, expected as many as dy: {dy.rank}")
    angles = angle_outputs(xOptional, dcosOut, dsinOut)
    for output in filter(None, (dcosOut, dsinOut)):
        rank_in(output, 3, 4)
    with in_tiling():
        known = MODES.get(soc.current().product, FEWER)
        require(mode in known, f"mode is {mode}, expected one of {', '.join(str(int(one)) for one in known)}")
        same_shape(dy, dxOut)
        fits(dy, cos, sin, Mode(mode))
        if xOptional is not None:
            same_shape(dy, xOptional)
            same_shape(cos, *angles)
    take, give = PAIRED[Mode(mode)]
    (dy1, dy2), (cos1, cos2), (sin1, sin2), (dx1, dx2) = give(dy), give(cos), give(sin), take(dxOut)
    plans = [planned(turned_back, (dy1, dy2, cos1, sin2), dx1), planned(turned_on, (dy1, dy2, cos2, sin1), dx2)]
    if xOptional is not None:
        (x1, x2), (to_cos, to_sin) = take(xOptional), (give(one) for one in angles)
        summed = ((dy1, x1, to_cos[0], 1), (dy2, x2, to_cos[1], 1), (dy1, x2, to_sin[0], -1), (dy2, x1, to_sin[1], 1))
        for first, second, target, sign in summed:
            axes = tuple(axis for axis, length in enumerate(target.shape) if length != first.shape[axis])
            plans.append(planned(product_sum, (first, second), target, axes=axes, sign=sign))
    return together(plans)


def angle_outputs(x: Operand | None, cos: Operand | None, sin: Operand | None) -> tuple[Operand, ...]:
    """Those of cosines and sines, which have to be there with ``xOptional``."""
    if x is None:
        return ()
    for name, output in (("dcosOut", cos), ("dsinOut", sin)):
        if output is None:
            raise AclnnNullptr(f"{name} must not be a null pointer where xOptional is given")
    assert cos is not None
    assert sin is not None
    return cos, sin


def planned(kernel: object, reads: tuple[Operand, ...], out: Operand, **attributes: object) -> Plan:
    """One part of a result."""
    return mapped(kernel, reads=reads, writes=(out,), dtype=FLOAT, raw=(out,), **attributes)  # type: ignore[arg-type]


def turned_back(dy1: Array, dy2: Array, cos: Array, sin: Array) -> Array:
    """Of the first of a pair."""
    found: Array = dy1 * cos + dy2 * sin
    return found


def turned_on(dy1: Array, dy2: Array, cos: Array, sin: Array) -> Array:
    """Of the second of a pair."""
    found: Array = dy2 * cos - dy1 * sin
    return found


def product_sum(grad: Array, x: Array, *, axes: Axes, sign: int) -> Array:
    """Summed over the axes that angles broadcast along."""
    found: Array = total(grad * x, axes, keepdims=True) * sign
    return found


def call(dtype: DType, shape: tuple[int, ...], angles: tuple[int, ...], mode: int, *, both: bool) -> Example:
    """One of these shapes."""
    return {
        "dy": numbers(shape, dtype, 1),
        "cos": numbers(angles, dtype, 2),
        "sin": numbers(angles, dtype, 3),
        "xOptional": numbers(shape, dtype, 4) if both else None,
        "mode": mode,
        "dxOut": numbers(shape, dtype, 5),
        "dcosOut": numbers(angles, dtype, 6) if both else None,
        "dsinOut": numbers(angles, dtype, 7) if both else None,
    }


@aclnnRotaryPositionEmbeddingGrad.example
def examples() -> Iterator[Example]:
    """What all products have."""
    yield call(FLOATS[0], (2, 3, 4, 8), (1, 1, 4, 8), Mode.HALF, both=True)
    yield call(FLOATS[1], (4, 3, 8), (4, 1, 8), Mode.INTERLEAVE, both=True)
    yield call(FLOATS[2], (2, 4, 3, 8), (2, 4, 3, 8), Mode.HALF, both=False)


@aclnnRotaryPositionEmbeddingGrad.example_on(Product.A950)
def newest_examples() -> Iterator[Example]:
    """The other pairs."""
    yield call(FLOATS[0], (2, 3, 4, 8), (2, 1, 4, 8), Mode.QUARTER, both=True)
    yield call(FLOATS[2], (2, 3, 4, 8), (1, 1, 1, 8), Mode.INTERLEAVE_HALF, both=True)
