"""aclnnUpsampleNearest1dBackward: the gradient of nearest neighbours along one axis."""

from acl_emu.core.dtypes import DOUBLE
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, OLDER_HALVES, upsample_backward

aclnnUpsampleNearest1dBackward = upsample_backward("aclnnUpsampleNearest1dBackward", Rule.NEAREST, 1, *FLOATS, DOUBLE, on=OLDER_HALVES)
