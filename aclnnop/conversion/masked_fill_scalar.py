"""aclnnInplaceMaskedFillScalar: a number where a mask is true."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Example, HandleKind, In, InOut, Operand, Plan, between, numbers, operator
from aclnnop.conversion.masked_fill import OLDER, TYPES, filled
from aclnnop.conversion.moves import EVERY, WIDE
from aclnnop.index.places import check_number


@operator(products=EVERY)
def aclnnInplaceMaskedFillScalar(
    selfRef: Annotated[Operand, InOut(*TYPES, on=OLDER, const=False)],
    mask: Annotated[Operand, In(BOOL)],
    value: Annotated[Scalar, HandleKind(Scalar, *WIDE)],
) -> Plan:
    """Set the elements where ``mask`` is true to ``value``."""
    check_number(value, "value", selfRef)
    return filled(selfRef, mask, number=value.converted(selfRef.dtype))


@aclnnInplaceMaskedFillScalar.example
def examples() -> Iterator[Example]:
    """Masks that broadcast; numbers of the same type, and of others."""
    for dtype, value, shape in (
        (FLOAT, float("-inf"), (3, 4)),
        (BF16, 2, (4,)),
        (INT64, 2**40, (3, 1)),
        (BOOL, True, ()),
        (FLOAT16, 0.5, (1, 4)),
        (INT8, -3, (3, 4)),
    ):
        yield {"selfRef": numbers((3, 4), dtype, 1, 9), "mask": between(0, 2, shape, BOOL, 2), "value": value}
