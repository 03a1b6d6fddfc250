"""aclnnForeachLog2: aclnnLog2 for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.log2 import aclnnLog2

aclnnForeachLog2 = foreach(aclnnLog2)
