"""aclnnForeachSign: aclnnSign for every tensor of a list."""

from acl_emu.core.dtypes import INT8, INT32, INT64
from aclnnop.foreach.each import FLOATS, foreach
from aclnnop.math.sign import aclnnSign

aclnnForeachSign = foreach(aclnnSign, *FLOATS, INT8, INT32, INT64)
