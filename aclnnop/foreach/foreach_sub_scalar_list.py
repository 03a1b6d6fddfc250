"""aclnnForeachSubScalarList: subtract from every tensor of a list a number of its own."""

from acl_emu.core.dtypes import FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import subtract
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachSubScalarList = over_lists(
    "aclnnForeachSubScalarList",
    "Subtract from every tensor of a list a number of its own.",
    subtract,
    *FLOATS,
    INT32,
    number=in_scalars(FLOAT, INT64),
)
