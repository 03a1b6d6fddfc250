"""aclnnForeachCos: aclnnCos for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.cos import aclnnCos

aclnnForeachCos = foreach(aclnnCos)
