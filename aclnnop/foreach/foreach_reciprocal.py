"""aclnnForeachReciprocal: aclnnReciprocal for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.reciprocal import aclnnReciprocal

aclnnForeachReciprocal = foreach(aclnnReciprocal)
