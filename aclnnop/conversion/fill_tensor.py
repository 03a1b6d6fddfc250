"""aclnnInplaceFillTensor: the number that a tensor holds, in all elements of another one."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT64
from acl_emu.spec import Example, In, InOut, Operand, Plan, length_is, numbers, operator
from aclnnop.conversion.moves import EVERY, SIMPLE, converted_copy, window


@operator(products=EVERY)
def aclnnInplaceFillTensor(
    selfRef: Annotated[Operand, InOut(*SIMPLE, const=False)], value: Annotated[Operand, In(*SIMPLE, rank=(0, 1))]
) -> Plan:
    """Set every element to the only one of ``value``."""
    length_is(value, 1, "a single number")
    return converted_copy(window(value, selfRef.shape, (0,) * selfRef.rank), selfRef, selfRef.dtype)


@aclnnInplaceFillTensor.example
def examples() -> Iterator[Example]:
    """A tensor of one element, and of no dimension."""
    yield {"selfRef": numbers((3, 4), FLOAT, 1), "value": np.array([2.5], np.float32)}
    yield {"selfRef": numbers((3, 4), INT64, 1, 9), "value": np.array(7)}
