"""aclnnForeachAtan: aclnnAtan for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.atan import aclnnAtan

aclnnForeachAtan = foreach(aclnnAtan)
