"""aclnnForeachAddListInplace: add ``alpha`` times every tensor of ``x2`` to that of ``x1Ref``."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachAddListInplace = over_lists(
    "aclnnForeachAddListInplace",
    "Add ``alpha`` times every tensor of ``x2`` to that of ``x1Ref``.",
    add,
    *FLOATS,
    INT32,
    lists=("x1Ref", "x2"),
    number=in_tensor("alpha"),
    in_place=True,
)
