"""aclnnForeachAddScalarV2: add a number to every tensor of a list."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from acl_emu.spec import Product
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachAddScalarV2 = over_lists(
    "aclnnForeachAddScalarV2",
    "Add a number to every tensor of a list.",
    add,
    *FLOATS,
    INT32,
    INT16,
    INT8,
    UINT8,
    number=in_scalar("scalar"),
    on={Product.A950: (*FLOATS, INT32)},
    newer=True,
)
