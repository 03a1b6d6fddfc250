"""aclnnScale: a tensor times a scale along some of its dimensions, plus a bias."""

from collections.abc import Iterator

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    FloatIn,
    FloatOut,
    Int,
    Operand,
    OptionalFloatIn,
    Plan,
    Product,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
    wrap_dim,
)


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnScale(x: FloatIn, scale: FloatIn, bias: OptionalFloatIn, axis: Int, numAxes: Int, scaleFromBlob: Bool, y: FloatOut) -> Plan:
    """Multiply by ``scale`` and add ``bias`` along the dimensions from ``axis`` on: ``numAxes`` of them, or as many as ``scale`` has."""
    same_dtype(scale, bias)
    same_dtype(x, scale, y)
    same_shape(x, y)
    if bias is not None:
        same_shape(scale, bias)
    first = wrap_dim(axis, x, "axis")
    require(numAxes >= -1, f"numAxes is {numAxes}, expected a value of at least -1")
    end = end_of(x, first, numAxes) if scaleFromBlob else first + scale.rank
    if scaleFromBlob and numAxes == 0:
        shape_is(scale, (1,), "numAxes is 0")
    else:
        shape_is(scale, x.shape[first:end], "of x from axis on")
    trailing = max(0, x.rank - end)
    return mapped(scaled, reads=(x, scale, bias), writes=(y,), dtype=x.dtype, shape=(*scale.shape, *(1,) * trailing))


def end_of(x: Operand, first: int, count: int) -> int:
    """The dimension behind the last one; all of them count where the number is -1."""
    end = x.rank if count == -1 else first + count
    require(end <= x.rank, f"axis and numAxes add up to {end}, expected at most the {x.rank} dimensions of x")
    return end


def scaled(x: Array, scale: Array, bias: Array | None, *, shape: tuple[int, ...]) -> Array:
    """The formula."""
    product: Array = x * scale.reshape(shape)
    return product if bias is None else product + bias.reshape(shape)


@aclnnScale.example
def examples() -> Iterator[Example]:
    """Some dimensions, all behind one, a single number; with a bias and without."""
    for dtype, axis, count, blob, shape, biased in (
        (FLOAT, 0, 1, True, (2,), True),
        (FLOAT16, 1, -1, True, (3, 4), False),
        (BF16, -2, 7, False, (3,), True),
        (FLOAT, 1, 0, True, (1,), True),
    ):
        yield {
            "x": numbers((2, 3, 4), dtype, 1),
            "scale": numbers(shape, dtype, 2),
            "bias": numbers(shape, dtype, 3) if biased else None,
            "axis": axis,
            "numAxes": count,
            "scaleFromBlob": blob,
            "y": numbers((2, 3, 4), dtype, 4),
        }
