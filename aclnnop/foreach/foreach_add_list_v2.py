"""aclnnForeachAddListV2: add ``alpha`` times every tensor of ``x2`` to that of ``x1``."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachAddListV2 = over_lists(
    "aclnnForeachAddListV2",
    "Add ``alpha`` times every tensor of ``x2`` to that of ``x1``.",
    add,
    *FLOATS,
    INT32,
    INT16,
    INT8,
    UINT8,
    lists=("x1", "x2"),
    number=in_scalar("alpha"),
    newer=True,
)
