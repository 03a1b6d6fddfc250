"""aclnnForeachMaximumScalarList: take the larger one of every element and the number of its tensor."""

from acl_emu.core.dtypes import DOUBLE, FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import larger
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachMaximumScalarList = over_lists(
    "aclnnForeachMaximumScalarList",
    "Take the larger one of every element and the number of its tensor.",
    larger,
    *FLOATS,
    INT32,
    number=in_scalars(FLOAT, INT64, DOUBLE),
)
