"""aclnnForeachSin: aclnnSin for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.sin import aclnnSin

aclnnForeachSin = foreach(aclnnSin)
