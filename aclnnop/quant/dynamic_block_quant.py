"""aclnnDynamicBlockQuant: blocks of rows and columns, each scaled to the range of a narrow type."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, HIFLOAT8, INT8, DType
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.quant.narrowing import LARGEST
from aclnnop.quant.results import EIGHT_BIT_FLOATS, put, require_rounding, require_type, wide

ROWS, COLUMNS = (1, 64, 128, 256, 512), (64, 128, 192, 256)
OLDER = dict.fromkeys((Product.A3, Product.A2), (INT8,))


@operator(products=NEWER)
def aclnnDynamicBlockQuant(
    x: Annotated[Operand, In(*FLOATS, rank=(2, 3))],
    minScale: Double,
    roundModeOptional: Annotated[str | None, StringKind("char*", optional=True)],
    dstType: Int,
    rowBlockSize: Int,
    colBlockSize: Int,
    yOut: Annotated[Operand, Out(INT8, *EIGHT_BIT_FLOATS, rank=(2, 3), const=True, on=OLDER)],
    scaleOut: Annotated[Operand, Out(FLOAT, rank=(2, 3), const=True)],
) -> Plan:
    """Divide every block by what makes its largest number that of the type, at most ``1 / minScale``, and round."""
    return quantised(x, minScale, roundModeOptional, dstType, (rowBlockSize, colBlockSize), yOut, scaleOut)


def quantised(
    x: Operand,
    minScale: float,
    roundMode: str | None,
    dstType: int,
    block: tuple[int, int],
    y: Operand,
    scale: Operand,
    *,
    sizes: tuple[tuple[int, ...], tuple[int, ...]] = (ROWS, COLUMNS),
    older: tuple[tuple[int, ...], tuple[int, ...]] = ((1,), (128,)),
    largest: float = 0.0,
) -> Plan:
    """Rules and plan of both versions; ``older``: the sizes of blocks on other chips."""
    require_type("dstType", dstType, y)
    if roundMode is not None:
        require_rounding("roundModeOptional", roundMode, ("round",) if y.dtype is HIFLOAT8 else ("rint",), y)
    allowed = sizes if soc.current().product is Product.A950 else older
    for name, size, those in zip(("rowBlockSize", "colBlockSize"), block, allowed, strict=True):
        require(size in those, f"{name} is {size}, expected one of {', '.join(map(str, those))}")
    require(minScale >= 0, f"minScale is {minScale}, expected a value of at least 0")
    same_shape(x, y)
    *outer, rows, columns = x.shape
    shape_is(scale, (*outer, -(-rows // block[0]), -(-columns // block[1])), "a number for each block")
    if x.size == 0:
        return nothing()
    settings = {"most": np.inf if minScale == 0 else 1 / minScale, "largest": largest or LARGEST[y.dtype], "dtype": y.dtype}
    return direct(by_block, reads=(x,), writes=(y, scale), scratch={}, block=block, **settings)


def by_block(x: Array, y: Array, scale: Array, *, block: tuple[int, int], most: float, largest: float, dtype: DType) -> None:
    """In FLOAT. A block of zeros has the scale 0 and becomes 0."""
    values = wide(x)
    scales = np.minimum(block_maxima(np.abs(values), block) / np.float32(largest), np.float32(most))
    scale[...] = scales
    spread = scales.repeat(block[0], axis=-2).repeat(block[1], axis=-1)[..., : values.shape[-2], : values.shape[-1]]
    put(y, np.where(spread == 0, np.float32(0), values / spread), dtype)


def block_maxima(sizes: Array, block: tuple[int, int]) -> Array:
    """Of each block; the last ones may be smaller."""
    found = sizes
    for axis, length in ((-2, block[0]), (-1, block[1])):
        found = np.maximum.reduceat(found, np.arange(0, found.shape[axis], length), axis=axis)
    return found


@aclnnDynamicBlockQuant.example
def examples() -> Iterator[Example]:
    """Rows of one block and a part of another."""
    for dtype, least in ((FLOAT, 0.0), (BF16, 3.0)):
        yield {
            "x": numbers((3, 130), dtype, 1, 90),
            "minScale": least,
            "roundModeOptional": "rint",
            "dstType": INT8.code,
            "rowBlockSize": 1,
            "colBlockSize": 128,
            "yOut": np.zeros((3, 130), np.int8),
            "scaleOut": numbers((3, 2), FLOAT, 2),
        }


@aclnnDynamicBlockQuant.example_on(Product.A950)
def larger() -> Iterator[Example]:
    """Blocks of several rows."""
    yield {
        "x": numbers((2, 65, 70), FLOAT16, 1, 90),
        "minScale": 0.0,
        "roundModeOptional": None,
        "dstType": FLOAT8_E4M3FN.code,
        "rowBlockSize": 64,
        "colBlockSize": 64,
        "yOut": np.zeros((2, 65, 70), FLOAT8_E4M3FN.numpy),
        "scaleOut": numbers((2, 2, 2), FLOAT, 2),
    }
