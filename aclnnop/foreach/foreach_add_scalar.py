"""aclnnForeachAddScalar: add a number to every tensor of a list."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from acl_emu.spec import Product
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachAddScalar = over_lists(
    "aclnnForeachAddScalar",
    "Add a number to every tensor of a list.",
    add,
    *FLOATS,
    INT32,
    INT16,
    INT8,
    UINT8,
    number=in_tensor("scalar"),
    on={Product.A950: (*FLOATS, INT32)},
)
