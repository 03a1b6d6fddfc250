"""aclnnForeachAddcdivScalarV2: add ``scalar × x2 / x3`` to every tensor of ``x1``."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_quotient
from aclnnop.foreach.numbers import FLOAT_SCALAR, in_scalar, over_lists

aclnnForeachAddcdivScalarV2 = over_lists(
    "aclnnForeachAddcdivScalarV2",
    "Add ``scalar × x2 / x3`` to every tensor of ``x1``.",
    add_quotient,
    *FLOATS,
    lists=("x1", "x2", "x3"),
    number=in_scalar("scalar", *FLOAT_SCALAR),
    newer=True,
)
