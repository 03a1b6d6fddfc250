"""aclnnForeachMinimumScalar: take the smaller one of every element and a number."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import smaller
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachMinimumScalar = over_lists(
    "aclnnForeachMinimumScalar",
    "Take the smaller one of every element and a number.",
    smaller,
    *FLOATS,
    INT32,
    number=in_tensor("scalar"),
)
