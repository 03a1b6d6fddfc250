"""aclnnAminmaxDim: the smallest and the largest element along a dimension."""

from acl_emu.spec import IntKind, Product
from aclnnop.math.extremes import both_ends
from aclnnop.math.reduction import NEWER

aclnnAminmaxDim = both_ends(
    "aclnnAminmaxDim",
    IntKind("const int64_t"),
    "Find the smallest and the largest element of every slice along ``dim``.",
    products=NEWER | {Product.A910},
)
