"""aclnnReplicationPad3d: a border of 3 dimensions that repeats its outermost elements."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import NEWEST, REPLICATED, REPLICATION, Empty, padded

ON = {Product.A950: NEWEST}

aclnnReplicationPad3d = padded("aclnnReplicationPad3d", REPLICATION, 3, *REPLICATED, on=ON, empty=Empty.OUTER)
