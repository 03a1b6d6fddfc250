"""aclnnForeachSubList: subtract ``alpha`` times every tensor of ``x2`` from that of ``x1``."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from acl_emu.spec import Product
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import subtract
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachSubList = over_lists(
    "aclnnForeachSubList",
    "Subtract ``alpha`` times every tensor of ``x2`` from that of ``x1``.",
    subtract,
    *FLOATS,
    INT32,
    INT16,
    INT8,
    UINT8,
    lists=("x1", "x2"),
    number=in_tensor("alpha"),
    on={Product.A950: (*FLOATS, INT32)},
)
