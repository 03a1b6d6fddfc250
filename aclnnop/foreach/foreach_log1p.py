"""aclnnForeachLog1p: aclnnLog1p for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.log1p import aclnnLog1p

aclnnForeachLog1p = foreach(aclnnLog1p)
