"""aclnnReplicationPad2d: a border of 2 dimensions that repeats its outermost elements."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import NEWEST, REPLICATED, REPLICATION, padded

ON = {Product.A950: NEWEST}

aclnnReplicationPad2d = padded("aclnnReplicationPad2d", REPLICATION, 2, *REPLICATED, on=ON)
