"""aclnnGtScalar and aclnnInplaceGtScalar: whether every element is greater than a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.gt_tensor import aclnnGtTensor

aclnnGtScalar = with_scalar(aclnnGtTensor, "aclnnGtScalar")
aclnnInplaceGtScalar = in_place(aclnnGtScalar)
