"""aclnnForeachRoundOffNumber: round every element of every tensor of a list to an integer."""

from acl_emu.core.dtypes import INT8, INT16
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import rounded, unrounded
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachRoundOffNumber = over_lists(
    "aclnnForeachRoundOffNumber",
    "Round every element of every tensor of a list to an integer.",
    rounded,
    *FLOATS,
    INT16,
    number=in_tensor("roundMode", INT8),
    integers=unrounded,
)
