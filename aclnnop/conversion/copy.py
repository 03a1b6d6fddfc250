"""aclnnInplaceCopy: the elements of a tensor into another one, of any type, layout and shape that it broadcasts to."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT16, HIFLOAT8, INT32, INT64, DType
from acl_emu.engine.casting import same
from acl_emu.runtime.tensor import make_view
from acl_emu.spec import (
    Array,
    Example,
    In,
    InOut,
    Operand,
    Plan,
    Product,
    broadcasts_to,
    cast_directly,
    direct,
    nothing,
    numbers,
    operator,
    require,
    unbuffered,
)
from aclnnop.math.cast import FLOATS, WIDE
from aclnnop.math.conversion import converted
from aclnnop.math.narrow import decoded, encoded

EIGHTS = (HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN)
NEWEST = {Product.A950: (*WIDE, *EIGHTS)}
PATHS = {
    *((narrow, wide) for narrow in EIGHTS for wide in FLOATS),
    *((wide, HIFLOAT8) for wide in FLOATS),
    (FLOAT, FLOAT8_E5M2),
    (FLOAT, FLOAT8_E4M3FN),
}
"""What a type of eight bits becomes, and can be made of."""


@operator()
def aclnnInplaceCopy(
    selfRef: Annotated[Operand, InOut(*WIDE, const=False, on=NEWEST)], src: Annotated[Operand, In(*WIDE, on=NEWEST)]
) -> Plan:
    """Copy every element of ``src``, which broadcasts, converted to the type of ``selfRef``."""
    narrow = src.dtype is not selfRef.dtype and not {src.dtype, selfRef.dtype}.isdisjoint(EIGHTS)
    require(not narrow or (src.dtype, selfRef.dtype) in PATHS, f"src has dtype {src.dtype}, which cannot be converted to {selfRef.dtype}")
    broadcasts_to(selfRef.shape, "that of selfRef", src)
    if 0 in selfRef.shape:
        return nothing()
    spread = expanded(src, selfRef.shape)
    if src.dtype in FLOATS and selfRef.dtype in FLOATS:
        return unbuffered(same, reads=(spread,), writes=(selfRef,), dtype=FLOAT)
    plan = direct(copy, reads=(spread,), writes=(selfRef,), scratch={}, origin=src.dtype, dtype=selfRef.dtype)
    return plan if narrow else cast_directly(plan)


@aclnnInplaceCopy.example
def examples() -> Iterator[Example]:
    """As it is, rows again and again, one number everywhere; other types."""
    for dtype, shape, own in ((FLOAT, (3, 4, 5), FLOAT), (BF16, (4, 1), FLOAT16), (INT64, (), INT32), (BOOL, (5,), FLOAT)):
        yield {"selfRef": numbers((3, 4, 5), own, 1), "src": numbers(shape, dtype, 2, 9)}


def expanded(operand: Operand, shape: tuple[int, ...]) -> Operand:
    """A tensor as it broadcasts: what repeats is read from the same place."""
    view = operand.view
    strides = (0,) * (len(shape) - operand.rank) + tuple(
        0 if own != length else stride
        for own, length, stride in zip(operand.shape, shape[len(shape) - operand.rank :], view.strides, strict=True)
    )
    return Operand(operand.name, make_view(shape, view.dtype_code, strides, view.offset, view.format, view.storage), operand.place)


def copy(source: Array, target: Array, *, origin: DType, dtype: DType) -> None:
    """By way of what numpy computes with, where a type is none of its own."""
    if origin is dtype:
        target[...] = source
    elif origin in EIGHTS or dtype in EIGHTS:
        target[...] = encoded(decoded(source, origin, source.shape), dtype)
    else:
        target[...] = converted(source, dtype)
