"""aclnnForeachDivList: divide every tensor of ``x1`` by that of ``x2``."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import divide
from aclnnop.foreach.numbers import over_lists

aclnnForeachDivList = over_lists(
    "aclnnForeachDivList", "Divide every tensor of ``x1`` by that of ``x2``.", divide, *FLOATS, lists=("x1", "x2")
)
