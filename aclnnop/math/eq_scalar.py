"""aclnnEqScalar and aclnnInplaceEqScalar: whether every element is equal to a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.eq_tensor import ON, TYPES, aclnnEqTensor

aclnnEqScalar = with_scalar(aclnnEqTensor, "aclnnEqScalar")
aclnnInplaceEqScalar = in_place(aclnnEqScalar, *TYPES, on=ON, const=True)
