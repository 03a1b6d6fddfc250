"""aclnnForeachMinimumScalarV2: take the smaller one of every element and a number."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import smaller
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachMinimumScalarV2 = over_lists(
    "aclnnForeachMinimumScalarV2",
    "Take the smaller one of every element and a number.",
    smaller,
    *FLOATS,
    INT32,
    number=in_scalar("scalar"),
    newer=True,
)
