"""aclnnUniqueConsecutive: elements or slices that differ from the one before them."""

from typing import Annotated

from acl_emu.core.dtypes import BOOL, COMPLEX64, COMPLEX128, DOUBLE, INT32, INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, Product, operator, same_dtype, wrap_dim
from aclnnop.index.uniqueness import TYPES, unique, unique_examples
from aclnnop.math.reduction import NEWER

COMPLEX_TOO = (*TYPES, COMPLEX64, COMPLEX128)
ON_950 = {Product.A950: tuple(dtype for dtype in TYPES if dtype not in (DOUBLE, BOOL))}
_ALL_ELEMENTS = 1000
"""The ``dim`` of a call that names none."""


@operator(products=NEWER)
def aclnnUniqueConsecutive(
    self: Annotated[Operand, In(*COMPLEX_TOO, on=ON_950)],
    returnInverse: Bool,
    returnCounts: Bool,
    dim: Int,
    valueOut: Annotated[Operand, Out(*COMPLEX_TOO)],
    inverseOut: Annotated[Operand, Out(INT32, INT64)],
    countsOut: Annotated[Operand, Out(INT32, INT64)],
) -> Plan:
    """Drop every element, or every slice at an index of ``dim``, that equals the one before; a ``dim`` of 1000 means elements."""
    same_dtype(self, valueOut)
    same_dtype(inverseOut, countsOut)
    axis = None if dim == _ALL_ELEMENTS else wrap_dim(dim, self)
    return unique(self, axis, valueOut, inverseOut if returnInverse else None, countsOut if returnCounts else None, adjacent=True)


aclnnUniqueConsecutive.example(
    lambda: unique_examples(aclnnUniqueConsecutive, {"valueOut": (12,), "inverseOut": (4, 3), "countsOut": (12,)}, dim=(_ALL_ELEMENTS,))
)
