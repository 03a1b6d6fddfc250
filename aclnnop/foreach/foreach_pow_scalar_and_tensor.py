"""aclnnForeachPowScalarAndTensor: raise a number to the power of every tensor of a list."""

from acl_emu.core.dtypes import DOUBLE, FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import exponential, integer_exponential
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachPowScalarAndTensor = over_lists(
    "aclnnForeachPowScalarAndTensor",
    "Raise a number to the power of every tensor of a list.",
    exponential,
    *FLOATS,
    INT32,
    number=in_scalar("scalar", FLOAT, DOUBLE, INT64),
    integers=integer_exponential,
    number_first=True,
)
