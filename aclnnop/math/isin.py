"""aclnnIsInScalarTensor: whether a number is among the elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, COMPLEX64, FLOAT, INT32
from acl_emu.core.soc import Product
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Bool, Example, HandleKind, In, Operand, Out, Plan, direct, numbers, operator, promote_scalar, shape_is
from aclnnop.math.binary import NOT_310, scalar_number
from aclnnop.math.isin_tensor_scalar import ON, TYPES


@operator(products=NOT_310 - {Product.A950})
def aclnnIsInScalarTensor(
    element: Annotated[Scalar, HandleKind(Scalar, *TYPES)],
    testElements: Annotated[Operand, In(*TYPES, on=ON)],
    assumeUnique: Bool,
    invert: Bool,
    out: Annotated[Operand, Out(BOOL)],
) -> Plan:
    """Tell whether ``element`` is among ``testElements``, or with ``invert`` whether it is not."""
    dtype = promote_scalar(testElements, element, "element")
    shape_is(out, ())
    number = scalar_number(element, dtype)

    def search(among: Array, result: Array) -> None:
        result[...] = np.any(among.astype(dtype.compute) == number) != invert

    return direct(search, reads=(testElements,), writes=(out,), scratch={})


@aclnnIsInScalarTensor.example
def examples() -> Iterator[Example]:
    """Numbers that are there and that are not."""
    for dtype, number, invert in ((FLOAT, 0.25, False), (INT32, 1, True), (COMPLEX64, np.complex64(1j), True), (BOOL, True, False)):
        yield {
            "element": number,
            "testElements": numbers((3, 4), dtype, 1),
            "assumeUnique": False,
            "invert": invert,
            "out": numbers((), BOOL, 2),
        }
