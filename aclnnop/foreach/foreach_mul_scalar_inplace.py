"""aclnnForeachMulScalarInplace: multiply every tensor of a list by a number."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import multiply
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachMulScalarInplace = over_lists(
    "aclnnForeachMulScalarInplace",
    "Multiply every tensor of a list by a number.",
    multiply,
    *FLOATS,
    INT32,
    number=in_tensor("scalar"),
    lists=("xRef",),
    in_place=True,
)
