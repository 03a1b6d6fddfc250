"""aclnnCast: a tensor in another data type."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated

from acl_emu.core import constants as c
from acl_emu.core import soc
from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX32,
    COMPLEX64,
    COMPLEX128,
    FLOAT,
    FLOAT4_E1M2,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    HIFLOAT8,
    INT4,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
    dtype_name,
)
from acl_emu.core.errors import AclnnInner
from acl_emu.engine.casting import same
from acl_emu.spec import (
    ALL,
    Array,
    DataTypeKind,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    cast_directly,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_shape,
    unbuffered,
)
from aclnnop.math.arithmetic import NUMBERS
from aclnnop.math.conversion import converted
from aclnnop.math.narrow import decoded, encoded

WIDE = (*NUMBERS, UINT16, UINT32, UINT64)
FLOATS, EIGHTS, FOURS = (FLOAT, FLOAT16, BF16), (HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN), (FLOAT4_E2M1, FLOAT4_E1M2)
NARROW = (COMPLEX32, *EIGHTS, *FOURS, INT4)
PATHS = {(COMPLEX32, FLOAT16), (FLOAT16, COMPLEX32), (INT32, INT4)}.union(
    *(product(a, b) for a, b in ((FLOATS, EIGHTS), (EIGHTS, FLOATS), (FLOATS, FOURS), (FOURS, FLOATS), (EIGHTS, FOURS), (FOURS, EIGHTS)))
)
"""What a narrow type can be cast from or to."""
CONTIGUOUS_ONLY = (BOOL, COMPLEX32, COMPLEX64, COMPLEX128, *FOURS)

Source = Annotated[Operand, In(*WIDE, on={Product.A950: (*WIDE, *NARROW[:-1])})]
TARGET = Out(*WIDE, on={Product.A950: (*WIDE, *NARROW)})


@operator(products=ALL - {Product.A310B})
def aclnnCast(self: Source, dtype: Annotated[int, DataTypeKind("const aclDataType")], out: Annotated[Operand, TARGET]) -> Plan:
    """Convert every element to ``dtype``."""
    listed = TARGET.dtypes_on(soc.current())
    require(dtype in (known.code for known in listed), f"dtype is {dtype_name(dtype)}, expected one of {', '.join(map(str, listed))}")
    require(dtype == out.dtype.code, f"dtype is {dtype_name(dtype)}, expected that of out: {out.dtype}")
    require(self.view.format == out.view.format, "out has another format than self")
    same_shape(self, out)
    special = self.dtype in NARROW or out.dtype in NARROW
    require(not special or (self.dtype, out.dtype) in PATHS, f"self has dtype {self.dtype}, which cannot be cast to {out.dtype}")
    for operand in (self, out):
        whole = operand.dtype.bits >= 8 and (operand is out or self.dtype not in CONTIGUOUS_ONLY) and out.dtype is not INT4
        require(whole or operand.contiguous, f"{operand.name} has strides {list(operand.view.strides)}, expected a contiguous tensor")
    if out.dtype is INT4 and self.rank and self.shape[-1] % 2:
        text = f"self has shape {list(self.shape)}, expected an even last length for a result of {out.dtype}"
        raise AclnnInner(text, c.ACLNN_ERR_INNER_TILING_ERROR)
    if 0 in self.shape:
        return nothing()
    if self.dtype in FLOATS and out.dtype in FLOATS:
        return unbuffered(same, reads=(self,), writes=(out,), dtype=FLOAT)
    plan = direct(cast, reads=(self,), writes=(out,), scratch={}, origin=self.dtype, dtype=out.dtype, shape=self.shape)
    return plan if special else cast_directly(plan)


@aclnnCast.example
def examples() -> Iterator[Example]:
    """To a narrower type, to integers, to unsigned ones."""
    for dtype, out in ((FLOAT, FLOAT16), (BF16, INT32), (INT64, UINT8)):
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "dtype": out.code, "out": numbers((3, 4, 5), out, 2)}


def cast(source: Array, target: Array, *, origin: DType, dtype: DType, shape: tuple[int, ...]) -> None:
    """By way of what numpy computes with, where a type is none of its own."""
    if origin in NARROW or dtype in NARROW:
        target[...] = encoded(decoded(source, origin, shape), dtype)
    else:
        target[...] = converted(source, dtype)
