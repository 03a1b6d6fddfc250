"""aclnnForeachSubScalarV2: subtract a number from every tensor of a list."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import subtract
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachSubScalarV2 = over_lists(
    "aclnnForeachSubScalarV2",
    "Subtract a number from every tensor of a list.",
    subtract,
    *FLOATS,
    INT32,
    number=in_scalar("scalar"),
    newer=True,
)
