"""aclnnCumprod and aclnnInplaceCumprod: products of all elements up to each."""

from typing import Annotated

from acl_emu.core import constants as c
from acl_emu.core.dtypes import DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import DataTypeKind, HandleKind, In, InOut, Operand, Out, Plan, Product, operator, require
from aclnnop.math.reduction import FLOATS, declared_dtype
from aclnnop.math.scan import running_product, scan_examples, scanned

TYPES = (*FLOATS, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
PRODUCTS = frozenset({Product.A3, Product.A2})
Dim = Annotated[Scalar, HandleKind(Scalar, INT32, INT64)]


@operator(products=PRODUCTS)
def aclnnCumprod(
    input: Annotated[Operand, In(*TYPES)],
    dim: Dim,
    dtype: Annotated[int, DataTypeKind("const aclDataType")],
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Multiply all elements up to each along ``dim``, converted to ``dtype`` first, where that is not undefined."""
    computed = input.dtype if dtype == c.ACL_DT_UNDEFINED else declared_dtype(dtype, TYPES)
    require(out.dtype is computed, f"out has dtype {out.dtype}, expected that of the product: {computed}")
    return scanned(running_product, input, int(dim.value), out, dtype=computed)


aclnnCumprod.example(lambda: scan_examples(aclnnCumprod))


@operator(products=PRODUCTS)
def aclnnInplaceCumprod(input: Annotated[Operand, InOut(*TYPES, const=False)], dim: Dim) -> Plan:
    """Multiply all elements up to each along ``dim``, in place."""
    return scanned(running_product, input, int(dim.value), input, dtype=input.dtype)


aclnnInplaceCumprod.example(lambda: scan_examples(aclnnInplaceCumprod))
