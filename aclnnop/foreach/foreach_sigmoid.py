"""aclnnForeachSigmoid: aclnnSigmoid for every tensor of a list."""

from aclnnop.activation.sigmoid import aclnnSigmoid
from aclnnop.foreach.each import foreach

aclnnForeachSigmoid = foreach(aclnnSigmoid)
