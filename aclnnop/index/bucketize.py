"""aclnnBucketize: between which boundaries numbers lie."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import ConstBool, Example, In, Operand, Out, Plan, Product, numbers, operator, promote, same_shape
from aclnnop.math.reduction import FLOATS
from aclnnop.math.searching import index_type, searched

TYPES = (*FLOATS, INT8, INT16, INT32, INT64, UINT8)


@operator(products=frozenset({Product.A950}))
def aclnnBucketize(
    self: Annotated[Operand, In(*TYPES)],
    boundaries: Annotated[Operand, In(*TYPES, rank=1)],
    outInt32: ConstBool,
    right: ConstBool,
    out: Annotated[Operand, Out(INT32, INT64)],
) -> Plan:
    """Find the index of the first boundary that is not smaller than each element, or with ``right`` larger."""
    dtype = promote(self, boundaries)
    same_shape(self, out)
    index_type(out, outInt32)
    return searched(boundaries, self, None, out, dtype, right=right)


@aclnnBucketize.example
def examples() -> Iterator[Example]:
    """Both kinds of intervals and of results."""
    for dtype, index in ((FLOAT, INT64), (INT32, INT32)):
        yield {
            "self": numbers((3, 4), dtype, 1, 9),
            "boundaries": np.sort(numbers((7,), dtype, 2, 9)),
            "outInt32": index is INT32,
            "right": index is INT32,
            "out": numbers((3, 4), index, 3),
        }
