"""aclnnReplicationPad3dBackward: the gradient of aclnnReplicationPad3d."""

from aclnnop.conversion.borders import FLOATING, REPLICATION, padded_backward

aclnnReplicationPad3dBackward = padded_backward("aclnnReplicationPad3dBackward", REPLICATION, 3, *FLOATING)
