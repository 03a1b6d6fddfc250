"""aclnnForeachSubListInplace: subtract ``alpha`` times every tensor of ``x2`` from that of ``x1Ref``."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import subtract
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachSubListInplace = over_lists(
    "aclnnForeachSubListInplace",
    "Subtract ``alpha`` times every tensor of ``x2`` from that of ``x1Ref``.",
    subtract,
    *FLOATS,
    INT32,
    lists=("x1Ref", "x2"),
    number=in_tensor("alpha"),
    in_place=True,
)
