"""aclnnReplicationPad1d: a border of 1 dimension that repeats its outermost elements."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import NEWEST, REPLICATED, REPLICATION, padded

ON = {Product.A950: NEWEST}

aclnnReplicationPad1d = padded("aclnnReplicationPad1d", REPLICATION, 1, *REPLICATED, on=ON)
