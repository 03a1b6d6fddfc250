"""aclnnForeachDivScalarV2: divide every tensor of a list by a number."""

from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import divide
from aclnnop.foreach.numbers import FLOAT_SCALAR, in_scalar, over_lists

aclnnForeachDivScalarV2 = over_lists(
    "aclnnForeachDivScalarV2",
    "Divide every tensor of a list by a number.",
    divide,
    *FLOATS,
    number=in_scalar("scalar", *FLOAT_SCALAR),
    newer=True,
)
