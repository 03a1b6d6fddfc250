"""aclnnForeachErfc: aclnnErfc for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.erfc import aclnnErfc

aclnnForeachErfc = foreach(aclnnErfc)
