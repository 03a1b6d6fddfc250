"""aclnnAddV3 and aclnnInplaceAddV3: ``self + alpha × other``, where ``self`` is a number."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Example, HandleKind, In, InOut, Operand, Out, Plan, numbers, operator
from aclnnop.math.arithmetic import combined
from aclnnop.math.binary import NOT_310B

TYPES = (FLOAT, FLOAT16, BF16, INT32, INT8)
NumberScalar = Annotated[Scalar, HandleKind(Scalar, *TYPES)]


@operator(products=NOT_310B)
def aclnnAddV3(
    self: NumberScalar, other: Annotated[Operand, In(*TYPES)], alpha: NumberScalar, out: Annotated[Operand, Out(*TYPES)]
) -> Plan:
    """Add ``alpha`` times a tensor to a number."""
    return combined(scaled_plus, other, self, out, alpha, name="self")


@operator(products=NOT_310B)
def aclnnInplaceAddV3(selfRef: NumberScalar, other: Annotated[Operand, InOut(*TYPES)], alpha: NumberScalar) -> Plan:
    """Add ``alpha`` times ``other`` to a number, in place of ``other``."""
    return combined(scaled_plus, other, selfRef, other, alpha, name="selfRef")


def scaled_plus(x: Array, y: Any, alpha: Any) -> Array:
    """The formula."""
    total: Array = y + alpha * x
    return total


@aclnnAddV3.example
def examples() -> Iterator[Example]:
    """A number and a tensor of several types."""
    for dtype, number, alpha in ((FLOAT, 1.2, 1.2), (FLOAT16, np.float16(0.3), np.int32(2)), (INT32, np.int32(7), np.int8(3))):
        yield {"self": number, "other": numbers((3, 4, 5), dtype, 1, 9), "alpha": alpha, "out": numbers((3, 4, 5), dtype, 2)}


@aclnnInplaceAddV3.example
def examples_in_place() -> Iterator[Example]:
    """The same ones."""
    for example in examples():
        yield {"selfRef": example["self"], "other": example["other"], "alpha": example["alpha"]}
