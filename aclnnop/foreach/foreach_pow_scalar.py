"""aclnnForeachPowScalar: raise every tensor of a list to the power of a number."""

from acl_emu.core.dtypes import INT32
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import integer_power, power
from aclnnop.foreach.numbers import in_tensor, over_lists

aclnnForeachPowScalar = over_lists(
    "aclnnForeachPowScalar",
    "Raise every tensor of a list to the power of a number.",
    power,
    *FLOATS,
    INT32,
    number=in_tensor("scalar"),
    integers=integer_power,
)
