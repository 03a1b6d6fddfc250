"""aclnnIndexFill: a number in the slices that a tensor chooses."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.core.soc import Product
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Example, HandleKind, In, Int, Operand, Out, Plan, in_place, numbers, operator
from aclnnop.conversion.moves import NEWER, WIDE
from aclnnop.index.filling import TYPES, check_fill, filled
from aclnnop.index.gathering import PLACES

MORE = (*TYPES, INT8, UINT8, INT16, DOUBLE)
ON = dict.fromkeys((Product.A3, Product.A2), TYPES)


@operator(products=NEWER)
def aclnnIndexFill(
    self: Annotated[Operand, In(*MORE, on=ON)],
    dim: Int,
    index: Annotated[Operand, In(*PLACES)],
    value: Annotated[Scalar, HandleKind(Scalar, *WIDE)],
    out: Annotated[Operand, Out(*MORE, on=ON)],
) -> Plan:
    """Set the slices along ``dim`` that ``index`` chooses to ``value``; an index that is outside counts for nothing."""
    return filled(self, check_fill(self, dim, out), index, value, out)


aclnnInplaceIndexFill = in_place(aclnnIndexFill)


@aclnnIndexFill.example
def examples() -> Iterator[Example]:
    """Every dimension; negative indices."""
    for dtype, dim, places, value in (
        (FLOAT, 1, INT64, 10.0),
        (FLOAT16, 0, INT32, 2),
        (BF16, -1, INT64, -0.5),
        (INT32, -2, INT32, 7),
        (INT64, 0, INT64, 2**40),
        (BOOL, 1, INT64, True),
    ):
        index = np.array([2, -3], places.numpy)
        yield {"self": numbers((3, 4), dtype, 1, 9), "dim": dim, "index": index, "value": value, "out": numbers((3, 4), dtype, 2)}


@aclnnIndexFill.example_on(Product.A950)
def more() -> Iterator[Example]:
    """Types of the newest products."""
    for dtype in (INT8, DOUBLE):
        index = np.array([0])
        yield {"self": numbers((3, 4), dtype, 1, 9), "dim": 1, "index": index, "value": 3, "out": numbers((3, 4), dtype, 2)}
