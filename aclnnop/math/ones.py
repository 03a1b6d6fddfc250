"""aclnnInplaceOne: ones in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16
from acl_emu.spec import ALL, Example, Operand, Out, Plan, Product, direct, nothing, numbers, operator
from aclnnop.conversion.fill_scalar import fill

TYPES = (FLOAT, FLOAT16, BF16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, BOOL)


@operator(products=ALL - {Product.A310B})
def aclnnInplaceOne(selfRef: Annotated[Operand, Out(*TYPES, const=True)]) -> Plan:
    """Set every element to one."""
    return nothing() if 0 in selfRef.shape else direct(fill, reads=(), writes=(selfRef,), scratch={}, number=1)


@aclnnInplaceOne.example
def examples() -> Iterator[Example]:
    """A tensor of each kind of type."""
    for dtype in (FLOAT, BF16, INT64, BOOL):
        yield {"selfRef": numbers((3, 4), dtype, 1)}
