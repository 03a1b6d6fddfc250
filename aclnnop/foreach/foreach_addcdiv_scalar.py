"""aclnnForeachAddcdivScalar: add ``scalar × x2 / x3`` to every tensor of ``x1``."""

from acl_emu.core.dtypes import FLOAT, FLOAT16
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_quotient
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachAddcdivScalar = over_lists(
    "aclnnForeachAddcdivScalar",
    "Add ``scalar × x2 / x3`` to every tensor of ``x1``.",
    add_quotient,
    *FLOATS,
    lists=("x1", "x2", "x3"),
    number=in_tensor("scalar", FLOAT, FLOAT16),
)
