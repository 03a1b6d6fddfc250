"""aclnnMax: the largest of all elements."""

from aclnnop.math.extremes import of_all
from aclnnop.math.reduction import largest

aclnnMax = of_all("aclnnMax", largest, "Find the largest of all elements.")
