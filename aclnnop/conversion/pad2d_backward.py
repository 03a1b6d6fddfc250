"""aclnnReflectionPad2dBackward and aclnnReplicationPad2dBackward: gradients of borders of 2 dimensions."""

from acl_emu.core.dtypes import BF16
from aclnnop.conversion.borders import FLOATING, REFLECTION, REPLICATION, Empty, padded_backward

MOST = {BF16: 7}

aclnnReflectionPad2dBackward = padded_backward("aclnnReflectionPad2dBackward", REFLECTION, 2, *FLOATING, most=MOST)
aclnnReplicationPad2dBackward = padded_backward("aclnnReplicationPad2dBackward", REPLICATION, 2, *FLOATING, most=MOST, empty=Empty.FIRST)
