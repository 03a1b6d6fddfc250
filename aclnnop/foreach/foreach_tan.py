"""aclnnForeachTan: aclnnTan for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.tan import aclnnTan

aclnnForeachTan = foreach(aclnnTan)
