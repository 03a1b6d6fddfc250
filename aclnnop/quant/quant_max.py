"""aclnnQuantMax: numbers times a scale in eight bits, and the largest magnitude of all."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, HIFLOAT8, DType, from_numpy, round_to
from acl_emu.spec import (
    Array,
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
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import FLOATS
from aclnnop.quant.results import EIGHT_BIT_FLOATS, put, require_rounding, require_type, wide


@operator(products=frozenset({Product.A950}))
def aclnnQuantMax(
    x: Annotated[Operand, In(*FLOATS, rank=(1, 8))],
    scale: Annotated[Operand, In(FLOAT, rank=1)],
    roundMode: Annotated[str, StringKind("char*")],
    dstType: Int,
    y: Annotated[Operand, Out(*EIGHT_BIT_FLOATS, rank=(1, 8), const=True)],
    amax: Annotated[Operand, Out(*FLOATS, rank=1, const=True)],
) -> Plan:
    """Multiply all elements by one scale and round them; ``amax`` is the largest magnitude before."""
    require_type("dstType", dstType, y)
    require_rounding("roundMode", roundMode, ("round", "hybrid") if y.dtype is HIFLOAT8 else ("rint",), y)
    same_dtype(x, amax)
    shape_is(scale, (1,), "a single number")
    shape_is(amax, (1,), "a single number")
    same_shape(x, y)
    return nothing() if x.size == 0 else direct(scaled, reads=(x, scale), writes=(y, amax), scratch={}, dtype=y.dtype)


def scaled(x: Array, scale: Array, y: Array, amax: Array, *, dtype: DType) -> None:
    """In FLOAT, rounded once."""
    values = wide(x)
    put(y, values * wide(scale)[0], dtype)
    amax[...] = round_to(np.abs(values).max(), from_numpy(amax.dtype))


@aclnnQuantMax.example
def examples() -> Iterator[Example]:
    """Both types that numpy knows."""
    for dtype, target in ((FLOAT, FLOAT8_E4M3FN), (BF16, FLOAT8_E5M2)):
        yield {
            "x": numbers((3, 5), dtype, 1, 9),
            "scale": np.array([2.5], np.float32),
            "roundMode": "rint",
            "dstType": target.code,
            "y": np.zeros((3, 5), target.numpy),
            "amax": numbers((1,), dtype, 2),
        }
