"""aclnnForeachPowScalarList: raise every tensor of a list to a power of its own."""

from acl_emu.core.dtypes import FLOAT, INT32, INT64
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import integer_power, power
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachPowScalarList = over_lists(
    "aclnnForeachPowScalarList",
    "Raise every tensor of a list to a power of its own.",
    power,
    *FLOATS,
    INT32,
    number=in_scalars(FLOAT, INT64),
    integers=integer_power,
)
