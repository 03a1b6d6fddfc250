"""aclnnForeachAcos: aclnnAcos for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.acos import aclnnAcos

aclnnForeachAcos = foreach(aclnnAcos)
