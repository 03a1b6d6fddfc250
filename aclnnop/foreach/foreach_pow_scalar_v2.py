"""aclnnForeachPowScalarV2: raise every tensor of a list to the power of a number."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import power
from aclnnop.foreach.numbers import FLOAT_SCALAR, in_scalar, over_lists

aclnnForeachPowScalarV2 = over_lists(
    "aclnnForeachPowScalarV2",
    "Raise every tensor of a list to the power of a number.",
    power,
    *FLOATS,
    number=in_scalar("scalar", *FLOAT_SCALAR),
    newer=True,
)
