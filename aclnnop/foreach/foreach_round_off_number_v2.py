"""aclnnForeachRoundOffNumberV2: round every element of every tensor of a list to an integer."""

from acl_emu.core.dtypes import INT8, INT16, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import rounded, unrounded
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachRoundOffNumberV2 = over_lists(
    "aclnnForeachRoundOffNumberV2",
    "Round every element of every tensor of a list to an integer.",
    rounded,
    *FLOATS,
    INT16,
    number=in_scalar("roundMode", INT64, INT8),
    integers=unrounded,
    newer=True,
)
