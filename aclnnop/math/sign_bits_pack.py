"""aclnnSignBitsPack: a bit for the sign of every element."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, UINT8
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, Product, direct, nothing, numbers, operator, require, shape_is


@operator(products=frozenset({Product.A3, Product.A2, Product.A310P}))
def aclnnSignBitsPack(self: Annotated[Operand, In(FLOAT16, FLOAT, rank=1)], size: Int, out: Annotated[Operand, Out(UINT8)]) -> Plan:
    """Pack eight elements into a byte, the first one lowest: 1 where one is not negative. ``size`` is the length of ``out``."""
    count = -(-self.size // 8)
    require(size >= 0, f"size is {size}, expected a value of at least 0")
    require(size != 0 and count % size == 0, f"size is {size}, expected a divisor of the number of bytes: {count}")
    shape_is(out, (size, count // size), "size rows of bytes")
    return nothing() if out.size == 0 else direct(packed, reads=(self,), writes=(out,), scratch={})


def packed(x: Array, out: Array) -> None:
    """What is missing to whole bytes counts as negative."""
    out[...] = np.packbits(x >= 0, bitorder="little").reshape(out.shape)


@aclnnSignBitsPack.example
def examples() -> Iterator[Example]:
    """Whole bytes, and not."""
    for dtype, count, size in ((FLOAT, 14, 2), (FLOAT16, 48, 3)):
        yield {"self": numbers((count,), dtype, 1), "size": size, "out": numbers((size, -(-count // 8) // size), UINT8, 2)}
