"""aclnnTransQuantParamV2: scales and offsets as the hardware takes them, in 64 bits."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT64, UINT64
from acl_emu.spec import ALL, Array, Example, In, Operand, Out, Plan, Product, direct, nothing, numbers, operator, require, shape_is

PRODUCTS = ALL - {Product.A310B, Product.A910}
Numbers = Annotated[Operand, In(FLOAT, rank=(1, 2))]
OptionalNumbers = Annotated[Operand | None, In(FLOAT, rank=(1, 2), optional=True)]
Codes = Annotated[Operand, Out(UINT64, INT64, rank=(1, 2), const=True)]
KEPT = np.uint32(0xFFFFE000)
"""The upper 19 bits of a scale."""
ALWAYS = np.uint64(1 << 46)


@operator(products=PRODUCTS)
def aclnnTransQuantParamV2(scale: Numbers, offset: OptionalNumbers, out: Codes) -> Plan:
    """Put the upper 19 bits of each scale and 9 bits of each offset into one number."""
    return packed(scale, offset, out, rounded=False)


def packed(scale: Operand, offset: Operand | None, out: Operand, *, rounded: bool) -> Plan:
    """Rules and plan of both versions."""
    shape = scale.shape
    if offset is not None:
        require(offset.rank == 1 or offset.shape[0] == 1, f"offset has shape {list(offset.shape)}, expected (n,) or (1, n)")
        require(
            scale.rank == 1 or scale.shape[0] == 1, f"scale has shape {list(scale.shape)}, expected (n,) or (1, n) where there is an offset"
        )
        lengths = {scale.size, offset.size} - {1}
        fits = len(lengths) < 2 and (scale.rank == 1 or offset.size in (1, scale.size))
        require(fits, f"offset has {offset.size} elements, expected 1 or as many as scale has: {scale.size}")
        shape = (max(scale.size, offset.size),) if scale.rank == 1 else shape
    shape_is(out, shape, "of scale and offset")
    return nothing() if out.size == 0 else direct(codes, reads=(scale, offset), writes=(out,), scratch={}, rounded=rounded)


def codes(scale: Array, offset: Array | None, out: Array, *, rounded: bool) -> None:
    """Bit by bit; an offset takes bits 37 to 45."""
    bits = np.ascontiguousarray(scale).reshape(-1).view(np.uint32)
    if rounded:
        bits = bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    found = (bits & KEPT).astype(np.uint64) | ALWAYS
    if offset is not None:
        whole = np.clip(np.rint(np.nan_to_num(offset.reshape(-1).astype(np.float64))), -256, 255).astype(np.int64)
        found = found | (whole & 0x1FF).astype(np.uint64) << np.uint64(37)
    out[...] = found.astype(out.dtype).reshape(out.shape)


@aclnnTransQuantParamV2.example
def examples() -> Iterator[Example]:
    """A number for each column, one for all; with an offset and without."""
    for dtype, shape, other, result in (
        (UINT64, (5,), (5,), (5,)),
        (INT64, (1, 5), None, (1, 5)),
        (UINT64, (1,), (5,), (5,)),
        (INT64, (3, 4), None, (3, 4)),
    ):
        offset = None if other is None else numbers(other, FLOAT, 2, 200)
        yield {"scale": numbers(shape, FLOAT, 1), "offset": offset, "out": np.zeros(result, dtype.numpy)}
