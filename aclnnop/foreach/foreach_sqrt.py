"""aclnnForeachSqrt: aclnnSqrt for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.sqrt import aclnnSqrt

aclnnForeachSqrt = foreach(aclnnSqrt)
