"""aclnnForeachMinimumList: take the smaller elements of the tensors of two lists."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import smaller
from aclnnop.foreach.numbers import over_lists

aclnnForeachMinimumList = over_lists(
    "aclnnForeachMinimumList", "Take the smaller elements of the tensors of two lists.", smaller, *FLOATS, INT32, lists=("x1", "x2")
)
