"""aclnnLeScalar and aclnnInplaceLeScalar: whether every element is less than or equal to a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.le_tensor import aclnnLeTensor

aclnnLeScalar = with_scalar(aclnnLeTensor, "aclnnLeScalar")
aclnnInplaceLeScalar = in_place(aclnnLeScalar)
