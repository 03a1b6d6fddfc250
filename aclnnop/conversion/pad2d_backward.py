"""aclnnReflectionPad2dBackward and aclnnReplicationPad2dBackward: gradients of borders of 2 dimensions."""

from aclnnop.conversion.borders import FLOATING, REFLECTION, REPLICATION, padded_backward

aclnnReflectionPad2dBackward = padded_backward("aclnnReflectionPad2dBackward", REFLECTION, 2, *FLOATING)
aclnnReplicationPad2dBackward = padded_backward("aclnnReplicationPad2dBackward", REPLICATION, 2, *FLOATING)
