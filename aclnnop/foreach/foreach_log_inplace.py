"""aclnnForeachLogInplace: aclnnLog in place for every tensor of a list."""

from aclnnop.foreach.each import foreach_in_place
from aclnnop.math.log import aclnnLog

aclnnForeachLogInplace = foreach_in_place(aclnnLog)
