"""aclnnForeachTanh: aclnnTanh for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.tanh import aclnnTanh

aclnnForeachTanh = foreach(aclnnTanh)
