"""aclnnForeachDivListInplace: divide every tensor of ``x1Ref`` by that of ``x2``."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import divide
from aclnnop.foreach.numbers import over_lists

aclnnForeachDivListInplace = over_lists(
    "aclnnForeachDivListInplace",
    "Divide every tensor of ``x1Ref`` by that of ``x2``.",
    divide,
    *FLOATS,
    lists=("x1Ref", "x2"),
    in_place=True,
)
