"""aclnnForeachLerpScalar: interpolate between the tensors of two lists."""

from acl_emu.core.dtypes import DOUBLE, FLOAT
from aclnnop.foreach.each import FLOATS
from aclnnop.foreach.formula import interpolate
from aclnnop.foreach.numbers import in_scalar, over_lists

aclnnForeachLerpScalar = over_lists(
    "aclnnForeachLerpScalar",
    "Interpolate between the tensors of two lists.",
    interpolate,
    *FLOATS,
    lists=("x1", "x2"),
    number=in_scalar("weight", FLOAT, DOUBLE),
)
