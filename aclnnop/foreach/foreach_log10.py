"""aclnnForeachLog10: aclnnLog10 for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.log10 import aclnnLog10

aclnnForeachLog10 = foreach(aclnnLog10)
