"""aclnnForeachMulScalarList: multiply every tensor of a list by a number of its own."""

from acl_emu.core.dtypes import DOUBLE, FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import multiply
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachMulScalarList = over_lists(
    "aclnnForeachMulScalarList",
    "Multiply every tensor of a list by a number of its own.",
    multiply,
    *FLOATS,
    INT32,
    number=in_scalars(FLOAT, INT64, DOUBLE),
)
