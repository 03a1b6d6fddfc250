"""aclnnForeachAbs: aclnnAbs for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.abs import aclnnAbs

aclnnForeachAbs = foreach(aclnnAbs)
