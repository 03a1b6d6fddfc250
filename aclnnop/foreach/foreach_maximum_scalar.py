"""aclnnForeachMaximumScalar: take the larger one of every element and a number."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import larger
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachMaximumScalar = over_lists(
    "aclnnForeachMaximumScalar",
    "Take the larger one of every element and a number.",
    larger,
    *FLOATS,
    INT32,
    number=in_tensor("scalar"),
)
