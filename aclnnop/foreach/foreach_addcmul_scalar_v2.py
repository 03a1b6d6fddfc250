"""aclnnForeachAddcmulScalarV2: add ``scalar × x2 × x3`` to every tensor of ``x1``."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_product
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachAddcmulScalarV2 = over_lists(
    "aclnnForeachAddcmulScalarV2",
    "Add ``scalar × x2 × x3`` to every tensor of ``x1``.",
    add_product,
    *FLOATS,
    INT32,
    lists=("x1", "x2", "x3"),
    number=in_scalar("scalar"),
    newer=True,
)
