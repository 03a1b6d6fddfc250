"""aclnnForeachCosh: aclnnCosh for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.cosh import aclnnCosh

aclnnForeachCosh = foreach(aclnnCosh)
