"""aclnnForeachDivScalarList: divide every tensor of a list by a number of its own."""

from acl_emu.core.dtypes import FLOAT
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import divide
from aclnnop.foreach.numbers import in_scalars, over_lists

aclnnForeachDivScalarList = over_lists(
    "aclnnForeachDivScalarList",
    "Divide every tensor of a list by a number of its own.",
    divide,
    *FLOATS,
    number=in_scalars(FLOAT),
    most=50,
)
