"""aclnnForeachAsin: aclnnAsin for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.asin import aclnnAsin

aclnnForeachAsin = foreach(aclnnAsin)
