"""aclnnNeScalar and aclnnInplaceNeScalar: whether every element is other than a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.ne_tensor import aclnnNeTensor

aclnnNeScalar = with_scalar(aclnnNeTensor, "aclnnNeScalar")
aclnnInplaceNeScalar = in_place(aclnnNeScalar)
