"""aclnnForeachPowList: raise every tensor of ``x1`` to the power of that of ``x2``."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import integer_power, power
from aclnnop.foreach.numbers import over_lists

aclnnForeachPowList = over_lists(
    "aclnnForeachPowList",
    "Raise every tensor of ``x1`` to the power of that of ``x2``.",
    power,
    *FLOATS,
    INT32,
    lists=("x1", "x2"),
    integers=integer_power,
)
