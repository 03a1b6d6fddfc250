"""aclnnForeachACosInplace: aclnnAcos in place for every tensor of a list."""

from aclnnop.foreach.each import foreach_in_place
from aclnnop.math.acos import aclnnAcos

aclnnForeachACosInplace = foreach_in_place(aclnnAcos, name="aclnnForeachACosInplace")
