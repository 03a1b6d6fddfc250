"""aclnnAmin: the smallest element along some dimensions."""

from aclnnop.math.extremes import along_dimensions
from aclnnop.math.reduction import smallest

aclnnAmin = along_dimensions("aclnnAmin", smallest, "Find the smallest element of every slice along ``dim``.")
