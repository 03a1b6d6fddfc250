"""aclnnForeachDivScalar: divide every tensor of a list by a number."""

from acl_emu.core.dtypes import FLOAT, FLOAT16
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import divide
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachDivScalar = over_lists(
    "aclnnForeachDivScalar", "Divide every tensor of a list by a number.", divide, *FLOATS, number=in_tensor("scalar", FLOAT, FLOAT16)
)
