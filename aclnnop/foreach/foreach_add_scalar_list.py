"""aclnnForeachAddScalarList: add to every tensor of a list a number of its own."""

from acl_emu.core.dtypes import FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachAddScalarList = over_lists(
    "aclnnForeachAddScalarList", "Add to every tensor of a list a number of its own.", add, *FLOATS, INT32, number=in_scalars(FLOAT, INT64)
)
