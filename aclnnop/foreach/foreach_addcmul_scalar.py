"""aclnnForeachAddcmulScalar: add ``scalar × x2 × x3`` to every tensor of ``x1``."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_product
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachAddcmulScalar = over_lists(
    "aclnnForeachAddcmulScalar",
    "Add ``scalar × x2 × x3`` to every tensor of ``x1``.",
    add_product,
    *FLOATS,
    INT32,
    lists=("x1", "x2", "x3"),
    number=in_tensor("scalar"),
)
