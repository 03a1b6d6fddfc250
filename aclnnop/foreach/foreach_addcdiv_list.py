"""aclnnForeachAddcdivList: add ``x2 / x3``, times a number of its own, to every tensor of ``x1``."""

from acl_emu.core.errors import AclnnInvalid
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_quotient
from aclnnop.foreach.numbers import in_elements, over_lists

aclnnForeachAddcdivList = over_lists(
    "aclnnForeachAddcdivList",
    "Add ``x2 / x3``, times a number of its own, to every tensor of ``x1``.",
    add_quotient,
    *FLOATS,
    lists=("x1", "x2", "x3"),
    number=in_elements(*FLOATS),
    null=AclnnInvalid,
)
