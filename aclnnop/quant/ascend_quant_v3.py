"""aclnnAscendQuantV3: numbers times a scale, plus an offset, as those of a narrow type."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, HIFLOAT8, INT8, INT32, DType
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    In,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    String,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.math.unary import FLOATS
from aclnnop.quant.results import EIGHT_BIT_FLOATS, ON, RESULTS, put, require_rounding, require_type, result_of, wide

NumberIn = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
OptionalNumberIn = Annotated[Operand | None, In(*FLOATS, rank=(1, 8), optional=True)]
Int32 = Annotated[int, IntKind("int32_t")]
PRODUCTS = ALL - {Product.A310B, Product.A910}
TO_INTEGERS = ("round", "ceil", "trunc", "floor")


@operator(products=PRODUCTS)
def aclnnAscendQuantV3(
    x: NumberIn,
    scale: NumberIn,
    offset: OptionalNumberIn,
    sqrtMode: Bool,
    roundMode: String,
    dstType: Int32,
    axis: Int32,
    y: Annotated[Operand, Out(*RESULTS, rank=(1, 8), const=True, on=ON)],
) -> Plan:
    """Multiply by ``scale``, once or twice, add ``offset`` and round; both have a number for each element along ``axis``, or one."""
    same_dtype(x, scale, offset)
    last = (-1, x.rank - 1)
    allowed = last if soc.current().product is Product.A310P else (*last, -2, x.rank - 2)
    require(axis in allowed and -x.rank <= axis, f"axis is {axis}, expected one of {', '.join(map(str, sorted(allowed)))}")
    return scaled(x, scale, offset, sqrtMode, roundMode, dstType, axis % x.rank, y)


def scaled(x: Operand, scale: Operand, offset: Operand | None, twice: bool, roundMode: str, dstType: int, axis: int, y: Operand) -> Plan:
    """Rules and plan of both versions."""
    lengths = (1, x.shape[axis])
    of_axis = scale.rank == x.rank and all(length == 1 for place, length in enumerate(scale.shape) if place != axis)
    fits = (scale.rank == 1 and scale.shape[0] in lengths) or (of_axis and scale.shape[axis] in lengths)
    require(
        fits, f"scale has shape {list(scale.shape)}, expected 1 or {lengths[1]} elements, one-dimensional or along dimension {axis} of x"
    )
    if offset is not None:
        same_dtype(scale, offset)
        same_shape(scale, offset)
    require_type("dstType", dstType, y)
    floats = ("round", "hybrid") if y.dtype is HIFLOAT8 else ("round",)
    require_rounding("roundMode", roundMode, floats if y.dtype in EIGHT_BIT_FLOATS else TO_INTEGERS, y)
    result_of(x, y)
    if y.size == 0:
        return nothing()
    shape = tuple(scale.size if place == axis else 1 for place in range(x.rank))
    settings = {"shape": shape, "twice": twice, "rounding": roundMode, "dtype": y.dtype}
    return direct(multiplied, reads=(x, scale, offset), writes=(y,), scratch={}, **settings)


def multiplied(
    x: Array, scale: Array, offset: Array | None, y: Array, *, shape: tuple[int, ...], twice: bool, rounding: str, dtype: DType
) -> None:
    """In FLOAT."""
    factors = wide(scale).reshape(shape)
    values = wide(x) * factors
    if twice:
        values = values * factors
    put(y, values if offset is None else values + wide(offset).reshape(shape), dtype, rounding)


@aclnnAscendQuantV3.example
def examples() -> Iterator[Example]:
    """Each type; scales in one dimension and in all; each rounding."""
    for dtype, shape, axis, mode, biased in (
        (FLOAT, (8,), -1, "round", True),
        (FLOAT16, (1,), 1, "floor", False),
        (FLOAT, (8,), -1, "ceil", False),
        (FLOAT, (1, 8), -1, "trunc", True),
    ):
        yield {
            "x": numbers((3, 8), dtype, 1, 9),
            "scale": numbers(shape, dtype, 2, 3),
            "offset": numbers(shape, dtype, 3, 3) if biased else None,
            "sqrtMode": mode == "trunc",
            "roundMode": mode,
            "dstType": INT8.code,
            "axis": axis,
            "y": np.zeros((3, 8), np.int8),
        }


@aclnnAscendQuantV3.example_on(Product.A950, Product.A3, Product.A2)
def packed() -> Iterator[Example]:
    """Eight numbers in one; a scale for each row."""
    for shape, axis in (((16,), -1), ((3, 1), 0)):
        yield {
            "x": numbers((3, 16), BF16, 1, 9),
            "scale": numbers(shape, BF16, 2),
            "offset": None,
            "sqrtMode": False,
            "roundMode": "round",
            "dstType": INT32.code,
            "axis": axis,
            "y": np.zeros((3, 2), np.int32),
        }


@aclnnAscendQuantV3.example_on(Product.A950)
def of_eight_bits() -> Iterator[Example]:
    """Floats."""
    yield {
        "x": numbers((3, 8), FLOAT, 1, 9),
        "scale": numbers((8,), FLOAT, 2),
        "offset": None,
        "sqrtMode": False,
        "roundMode": "round",
        "dstType": FLOAT8_E4M3FN.code,
        "axis": -1,
        "y": np.zeros((3, 8), FLOAT8_E4M3FN.numpy),
    }
