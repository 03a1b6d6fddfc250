"""aclnnForeachLerpList: interpolate between the tensors of two lists, each element by a weight of its own."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import interpolate
from aclnnop.foreach.numbers import over_lists

aclnnForeachLerpList = over_lists(
    "aclnnForeachLerpList",
    "Interpolate between the tensors of two lists, each element by a weight of its own.",
    interpolate,
    *FLOATS,
    lists=("x1", "x2", "weight"),
)
