"""aclnnForeachMaximumScalarV2: take the larger one of every element and a number."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import larger
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachMaximumScalarV2 = over_lists(
    "aclnnForeachMaximumScalarV2",
    "Take the larger one of every element and a number.",
    larger,
    *FLOATS,
    INT32,
    number=in_scalar("scalar"),
    newer=True,
)
