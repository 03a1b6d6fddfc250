"""aclnnFmodScalar and aclnnInplaceFmodScalar: what a quotient by a number, rounded towards zero, leaves."""

from acl_emu.spec import in_place
from aclnnop.math.binary import NOT_310, with_scalar
from aclnnop.math.fmod_tensor import aclnnFmodTensor

aclnnFmodScalar = with_scalar(aclnnFmodTensor, "aclnnFmodScalar", products=NOT_310)
aclnnInplaceFmodScalar = in_place(aclnnFmodScalar)
