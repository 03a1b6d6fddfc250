"""aclnnSignBitsUnpack: signs from bits."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, UINT8, dtype_name
from acl_emu.spec import (
    ALL,
    Array,
    DataType,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    shape_is,
)


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnSignBitsUnpack(
    self: Annotated[Operand, In(UINT8, rank=1)], size: Int, dtype: DataType, out: Annotated[Operand, Out(FLOAT16, FLOAT)]
) -> Plan:
    """Give 1 for every bit that is set and -1 for the others, the lowest of each byte first, in ``size`` rows."""
    count = 8 * self.size
    require(size > 0 and count % size == 0, f"size is {size}, expected a divisor of the number of bits: {count}")
    require(out.dtype.code == dtype, f"out has dtype {out.dtype}, expected dtype: {dtype_name(dtype)}")
    shape_is(out, (size, count // size), "size rows of signs")
    return nothing() if out.size == 0 else direct(unpacked, reads=(self,), writes=(out,), scratch={})


def unpacked(bits: Array, out: Array) -> None:
    """Each bit by itself."""
    out[...] = np.unpackbits(bits, bitorder="little").reshape(out.shape).astype(np.int8) * 2 - 1


@aclnnSignBitsUnpack.example
def examples() -> Iterator[Example]:
    """Both types."""
    for dtype, size in ((FLOAT, 2), (FLOAT16, 16)):
        out = numbers((size, 48 // size), dtype, 2)
        yield {"self": between(0, 256, (6,), UINT8, 1), "size": size, "dtype": dtype.code, "out": out}
