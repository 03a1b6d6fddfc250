"""aclnnAddN: the sum of several tensors."""

from collections.abc import Iterator
from functools import reduce
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.errors import AclnnInvalid
from acl_emu.spec import Array, Example, In, ListOf, Operand, Out, Plan, Product, nothing, numbers, operator, same_dtype, same_shape
from aclnnop.math.binary import applied

TYPES = (FLOAT, FLOAT16, BF16, INT32, INT64)


@operator(products=frozenset({Product.A3, Product.A2}), elsewhere=AclnnInvalid)
def aclnnAddN(tensors: Annotated[list[Operand], ListOf(In(*TYPES), least=0)], out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Add up several tensors of one shape and type."""
    if not tensors:
        return nothing()
    same_dtype(*tensors, out)
    same_shape(*tensors, out)
    return applied(total, tensors, out.dtype, out)


def total(*terms: Array) -> Array:
    """The formula."""
    return reduce(np.add, terms)


@aclnnAddN.example
def examples() -> Iterator[Example]:
    """One, two and three tensors."""
    for count, dtype in enumerate((INT64, FLOAT, BF16), 1):
        yield {"tensors": [numbers((3, 4), dtype, seed, 9) for seed in range(count)], "out": numbers((3, 4), dtype, 9)}
