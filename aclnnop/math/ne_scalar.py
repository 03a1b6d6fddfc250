"""aclnnNeScalar and aclnnInplaceNeScalar: whether every element is other than a number."""

from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import HandleKind, in_place
from aclnnop.math.binary import EVERY, NARROWER, with_scalar
from aclnnop.math.ne_tensor import aclnnNeTensor

aclnnNeScalar = with_scalar(aclnnNeTensor, "aclnnNeScalar")
aclnnInplaceNeScalar = in_place(aclnnNeScalar, *EVERY, on=NARROWER, instead={"other": HandleKind(Scalar, *EVERY)})
