"""aclnnForeachMulList: multiply the tensors of two lists."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import multiply
from aclnnop.foreach.numbers import over_lists

aclnnForeachMulList = over_lists(
    "aclnnForeachMulList", "Multiply the tensors of two lists.", multiply, *FLOATS, INT32, INT16, INT8, UINT8, lists=("x1", "x2")
)
