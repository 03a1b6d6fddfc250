"""aclnnForeachMaximumList: take the larger elements of the tensors of two lists."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import larger
from aclnnop.foreach.numbers import over_lists

aclnnForeachMaximumList = over_lists(
    "aclnnForeachMaximumList", "Take the larger elements of the tensors of two lists.", larger, *FLOATS, INT32, lists=("x1", "x2")
)
