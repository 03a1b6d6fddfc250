"""aclnnLtScalar and aclnnInplaceLtScalar: whether every element is less than a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.lt_tensor import aclnnLtTensor

aclnnLtScalar = with_scalar(aclnnLtTensor, "aclnnLtScalar")
aclnnInplaceLtScalar = in_place(aclnnLtScalar, const=True)
