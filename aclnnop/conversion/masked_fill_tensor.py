"""aclnnInplaceMaskedFillTensor: the number that a tensor holds, where a mask is true."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT32, INT64
from acl_emu.spec import Example, In, InOut, Operand, Plan, between, castable, length_is, numbers, operator
from aclnnop.conversion.masked_fill import OLDER, TYPES, filled
from aclnnop.conversion.moves import TRAINING


@operator(products=TRAINING)
def aclnnInplaceMaskedFillTensor(
    selfRef: Annotated[Operand, InOut(*TYPES, on=OLDER, const=False)],
    mask: Annotated[Operand, In(BOOL)],
    value: Annotated[Operand, In(*TYPES, on=OLDER)],
) -> Plan:
    """Set the elements where ``mask`` is true to the only one of ``value``."""
    length_is(value, 1, "a single number")
    castable(value.dtype, selfRef)
    return filled(selfRef, mask, value.in_view(()))


@aclnnInplaceMaskedFillTensor.example
def examples() -> Iterator[Example]:
    """Masks that broadcast; numbers of the same type, and of others."""
    for dtype, other, shape in (
        (FLOAT, FLOAT, (3, 4)),
        (BF16, BF16, (4,)),
        (INT64, INT32, (3, 1)),
        (BOOL, BOOL, ()),
        (FLOAT16, FLOAT, (1, 4)),
        (INT8, INT8, (3, 4)),
    ):
        yield {"selfRef": numbers((3, 4), dtype, 1, 9), "mask": between(0, 2, shape, BOOL, 2), "value": numbers((), other, 3, 9)}
