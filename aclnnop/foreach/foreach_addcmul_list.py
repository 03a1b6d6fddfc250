"""aclnnForeachAddcmulList: add ``x2 × x3``, times a number of its own, to every tensor of ``x1``."""

from acl_emu.core.dtypes import INT32
from acl_emu.core.errors import AclnnInvalid
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_product
from aclnnop.foreach.numbers import in_elements, over_lists

aclnnForeachAddcmulList = over_lists(
    "aclnnForeachAddcmulList",
    "Add ``x2 × x3``, times a number of its own, to every tensor of ``x1``.",
    add_product,
    *FLOATS,
    INT32,
    lists=("x1", "x2", "x3"),
    number=in_elements(*FLOATS, INT32),
    null=AclnnInvalid,
)
