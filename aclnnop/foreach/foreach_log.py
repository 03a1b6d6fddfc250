"""aclnnForeachLog: aclnnLog for every tensor of a list."""

from aclnnop.foreach.each import foreach
from aclnnop.math.log import aclnnLog

aclnnForeachLog = foreach(aclnnLog)
