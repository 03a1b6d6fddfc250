"""aclnnForeachSubListV2: subtract ``alpha`` times every tensor of ``x2`` from that of ``x1``."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from acl_emu.spec import Product
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import subtract
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachSubListV2 = over_lists(
    "aclnnForeachSubListV2",
    "Subtract ``alpha`` times every tensor of ``x2`` from that of ``x1``.",
    subtract,
    *FLOATS,
    INT32,
    INT16,
    INT8,
    UINT8,
    lists=("x1", "x2"),
    number=in_scalar("alpha"),
    on={Product.A950: (*FLOATS, INT32)},
    newer=True,
)
