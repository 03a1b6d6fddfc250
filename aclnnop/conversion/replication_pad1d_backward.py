"""aclnnReplicationPad1dBackward: the gradient of aclnnReplicationPad1d."""

from aclnnop.conversion.borders import FLOATING, REPLICATION, padded_backward

aclnnReplicationPad1dBackward = padded_backward("aclnnReplicationPad1dBackward", REPLICATION, 1, *FLOATING, wide=True)
