"""aclnnReal: the real parts of complex numbers."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import COMPLEX32, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, Product, numbers, operator, require, same_shape
from aclnnop.conversion.moves import rearranged

PARTS = {FLOAT: FLOAT, FLOAT16: FLOAT16, COMPLEX32: FLOAT16, COMPLEX64: FLOAT, COMPLEX128: DOUBLE}


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnReal(self: Annotated[Operand, In(*PARTS)], out: Annotated[Operand, Out(FLOAT, FLOAT16, DOUBLE)]) -> Plan:
    """Take the real part of every element; a real number is its own."""
    wanted = PARTS[self.dtype]
    require(out.dtype is wanted, f"out has dtype {out.dtype}, expected that of the parts of {self.dtype}: {wanted}")
    same_shape(self, out)
    return rearranged(real_part, (self,), out)


@aclnnReal.example
def examples() -> Iterator[Example]:
    """Complex and real numbers."""
    for dtype in (COMPLEX64, COMPLEX128, FLOAT16):
        yield {"self": numbers((3, 4), dtype, 1), "out": numbers((3, 4), PARTS[dtype], 2)}


def real_part(x: Array) -> Array:
    """Pairs of halves have names."""
    found: Array = x["real"] if x.dtype.names else x.real
    return found
