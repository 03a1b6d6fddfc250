"""aclnnAmax: the largest element along some dimensions."""

from aclnnop.math.extremes import along_dimensions
from aclnnop.math.reduction import largest

aclnnAmax = along_dimensions("aclnnAmax", largest, "Find the largest element of every slice along ``dim``.")
