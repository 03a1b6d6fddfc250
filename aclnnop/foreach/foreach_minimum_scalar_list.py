"""aclnnForeachMinimumScalarList: take the smaller one of every element and the number of its tensor."""

from acl_emu.core.dtypes import DOUBLE, FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import smaller
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachMinimumScalarList = over_lists(
    "aclnnForeachMinimumScalarList",
    "Take the smaller one of every element and the number of its tensor.",
    smaller,
    *FLOATS,
    INT32,
    number=in_scalars(FLOAT, INT64, DOUBLE),
)
