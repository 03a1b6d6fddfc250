"""aclnnIsInTensorScalar: whether every element equals a number."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, INT32, UINT16
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Bool, Example, HandleKind, In, Operand, Out, Plan, numbers, operator, promote_scalar, same_shape
from aclnnop.math.binary import NOT_310, NUMBERS, REAL_NUMBERS, applied
from aclnnop.math.unary import OLDER

TYPES = (*NUMBERS, UINT16)
ON = dict.fromkeys(OLDER, (*REAL_NUMBERS, UINT16))


@operator(products=NOT_310)
def aclnnIsInTensorScalar(
    element: Annotated[Operand, In(*TYPES, on=ON)],
    testElement: Annotated[Scalar, HandleKind(Scalar, *TYPES)],
    assumeUnique: Bool,
    invert: Bool,
    out: Annotated[Operand, Out(BOOL)],
) -> Plan:
    """Tell whether every element equals ``testElement``, or with ``invert`` whether it does not."""
    dtype = promote_scalar(element, testElement, "testElement")
    same_shape(element, out)
    return applied(np.not_equal if invert else np.equal, (element, testElement), dtype, out, is_truth=True)


@aclnnIsInTensorScalar.example
def examples() -> Iterator[Example]:
    """Both senses, several types."""
    for dtype, number, invert in ((FLOAT, 0.25, False), (INT32, 1, True), (BF16, 1, False), (BOOL, True, False)):
        yield {
            "element": numbers((3, 4), dtype, 1),
            "testElement": number,
            "assumeUnique": False,
            "invert": invert,
            "out": numbers((3, 4), BOOL, 2),
        }
