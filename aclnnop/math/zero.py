"""aclnnInplaceZero: zeros in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DOUBLE,
    FLOAT,
    FLOAT4_E1M2,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    HIFLOAT8,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
)
from acl_emu.spec import ALL, Example, InOut, Operand, Plan, Product, direct, nothing, numbers, operator
from aclnnop.conversion.fill_scalar import fill

TYPES = (FLOAT, FLOAT16, BF16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, BOOL, COMPLEX64, COMPLEX128)
NARROW = (FLOAT8_E5M2, FLOAT8_E4M3FN, HIFLOAT8, FLOAT4_E1M2, FLOAT4_E2M1)


@operator(products=ALL - {Product.A310B})
def aclnnInplaceZero(selfRef: Annotated[Operand, InOut(*TYPES, const=False, on={Product.A950: (*TYPES, *NARROW)})]) -> Plan:
    """Set every element to zero, whose bits are zero in every type."""
    return nothing() if 0 in selfRef.shape else direct(fill, reads=(), writes=(selfRef,), scratch={}, number=0)


@aclnnInplaceZero.example
def examples() -> Iterator[Example]:
    """A tensor of each kind of type."""
    for dtype in (FLOAT, BF16, INT64, BOOL, COMPLEX64):
        yield {"selfRef": numbers((3, 4), dtype, 1)}
