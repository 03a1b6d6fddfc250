"""aclnnAminmaxAll: the smallest and the largest of all elements."""

from acl_emu.spec import Product
from aclnnop.math.extremes import both_ends
from aclnnop.math.reduction import NEWER

aclnnAminmaxAll = both_ends("aclnnAminmaxAll", None, "Find the smallest and the largest of all elements.", products=NEWER | {Product.A910})
