"""aclnnInplaceFillScalar: one number in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Array, Example, HandleKind, InOut, Operand, Plan, Product, direct, nothing, numbers, operator
from aclnnop.math.cast import WIDE
from aclnnop.math.conversion import converted


@operator(products=ALL - {Product.A310B})
def aclnnInplaceFillScalar(
    selfRef: Annotated[Operand, InOut(*WIDE, const=False)], value: Annotated[Scalar, HandleKind(Scalar, *WIDE)]
) -> Plan:
    """Set every element to a number, converted to the type of ``selfRef``."""
    if 0 in selfRef.shape:
        return nothing()
    number = converted(np.asarray(value.value), selfRef.dtype)[()]
    return direct(fill, reads=(), writes=(selfRef,), scratch={}, number=number)


@aclnnInplaceFillScalar.example
def examples() -> Iterator[Example]:
    """A number of the same type, and of others."""
    for dtype, value in ((FLOAT, 2.5), (BF16, 3), (INT64, -7.9), (BOOL, 2), (FLOAT16, True), (COMPLEX64, 1j)):
        yield {"selfRef": numbers((3, 4), dtype, 1), "value": value}


def fill(target: Array, *, number: object) -> None:
    """In place."""
    target[...] = number
