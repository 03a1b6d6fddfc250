"""aclnnForeachErf: aclnnErf for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.erf import aclnnErf

aclnnForeachErf = foreach(aclnnErf)
