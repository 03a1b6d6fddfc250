"""aclnnForeachMulListInplace: multiply the tensors of two lists."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import multiply
from aclnnop.foreach.numbers import over_lists

aclnnForeachMulListInplace = over_lists(
    "aclnnForeachMulListInplace",
    "Multiply the tensors of two lists.",
    multiply,
    *FLOATS,
    INT32,
    lists=("x1Ref", "x2"),
    in_place=True,
)
