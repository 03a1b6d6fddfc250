"""aclnnForeachNeg: aclnnNeg for every tensor of a list."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from aclnnop.foreach.each import FLOATS, foreach
from aclnnop.math.neg import aclnnNeg

aclnnForeachNeg = foreach(aclnnNeg, *FLOATS, INT32, INT16, INT8, UINT8)
