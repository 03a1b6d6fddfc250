"""aclnnForeachNeg: aclnnNeg for every tensor of a list."""

from acl_emu.core.dtypes import INT8, INT16, INT32, UINT8
from acl_emu.spec import Product
from aclnnop.foreach.each import FLOATS, foreach
from aclnnop.math.neg import aclnnNeg

aclnnForeachNeg = foreach(aclnnNeg, *FLOATS, INT32, INT16, INT8, UINT8, on={Product.A950: (*FLOATS, INT32)})
