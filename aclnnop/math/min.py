"""aclnnMin: the smallest of all elements."""

from aclnnop.math.extremes import of_all
from aclnnop.math.reduction import smallest

aclnnMin = of_all("aclnnMin", smallest, "Find the smallest of all elements.")
