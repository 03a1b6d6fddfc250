"""aclnnGer: every product of an element of one vector with one of another."""

from collections.abc import Iterator
from typing import Annotated, Any

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, Product, castable, mapped, numbers, operator, promote, shape_is

TYPES = (FLOAT, FLOAT16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, BOOL, COMPLEX64, COMPLEX128)
NEWEST = {Product.A950: (*TYPES, BF16)}
VectorIn = Annotated[Operand, In(*TYPES, rank=1, on=NEWEST)]


@operator(products=frozenset({Product.A950, Product.A3, Product.A2, Product.A910}))
def aclnnGer(self: VectorIn, vec2: VectorIn, out: Annotated[Operand, Out(*TYPES, rank=2, on=NEWEST)]) -> Plan:
    """Multiply every element of one vector by every element of another."""
    dtype = promote(self, vec2)
    castable(dtype, out)
    shape_is(out, (*self.shape, *vec2.shape), "the lengths of self and vec2")
    return mapped(outer, reads=(self.with_axis(1), vec2.with_axis(0)), writes=(out,), dtype=dtype)


def outer(x: Array, y: Array) -> Any:
    """Every product."""
    return x * y


@aclnnGer.example
def examples() -> Iterator[Example]:
    """Equal types and others."""
    for first, second, out in ((FLOAT, FLOAT, FLOAT), (FLOAT16, INT32, FLOAT), (INT64, INT8, INT64), (COMPLEX64, FLOAT, COMPLEX64)):
        yield {"self": numbers((3,), first, 1, 9), "vec2": numbers((4,), second, 2, 9), "out": numbers((3, 4), out, 3)}
