"""aclnnForeachSinh: aclnnSinh for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.sinh import aclnnSinh

aclnnForeachSinh = foreach(aclnnSinh)
