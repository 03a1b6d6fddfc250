"""aclnnGeScalar and aclnnInplaceGeScalar: whether every element is greater than or equal to a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.ge_tensor import aclnnGeTensor

aclnnGeScalar = with_scalar(aclnnGeTensor, "aclnnGeScalar")
aclnnInplaceGeScalar = in_place(aclnnGeScalar)
