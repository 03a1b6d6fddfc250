"""aclnnForeachAddcdivScalarList: add ``x2 / x3``, times a number of its own, to every tensor of ``x1``."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import add_quotient
from aclnnop.foreach.numbers import in_elements, over_lists

aclnnForeachAddcdivScalarList = over_lists(
    "aclnnForeachAddcdivScalarList",
    "Add ``x2 / x3``, times a number of its own, to every tensor of ``x1``.",
    add_quotient,
    *FLOATS,
    lists=("x1", "x2", "x3"),
    number=in_elements(*FLOATS),
)
