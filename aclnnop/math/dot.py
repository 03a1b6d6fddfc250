"""aclnnDot: the product of two vectors."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, UINT8
from acl_emu.spec import ALL, Array, Example, In, Operand, Out, Plan, Product, mapped, numbers, operator, same_dtype, same_shape, shape_is

TYPES = (BF16, FLOAT16, FLOAT, INT8, INT32, UINT8)


@operator(products=ALL - {Product.A310B})
def aclnnDot(
    self: Annotated[Operand, In(*TYPES, rank=1)],
    tensor: Annotated[Operand, In(*TYPES, rank=1)],
    out: Annotated[Operand, Out(*TYPES, rank=0)],
) -> Plan:
    """Add up the products of the elements of two vectors."""
    same_dtype(self, tensor, out)
    same_shape(self, tensor)
    shape_is(out, ())
    return mapped(inner, reads=(self, tensor), writes=(out,), dtype=self.dtype)


def inner(x: Array, y: Array) -> Any:
    """Integers wrap around in their type."""
    return (x * y).sum(axis=0, dtype=np.float64 if x.dtype.kind == "f" else x.dtype)


@aclnnDot.example
def examples() -> Iterator[Example]:
    """Floating-point and integers."""
    for dtype in (FLOAT, FLOAT16, BF16, INT32, INT8):
        yield {"self": numbers((37,), dtype, 1, 3), "tensor": numbers((37,), dtype, 2, 3), "out": numbers((), dtype, 3)}
