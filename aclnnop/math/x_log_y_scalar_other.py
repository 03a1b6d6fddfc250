"""aclnnXLogYScalarOther and aclnnInplaceXLogYScalarOther: every element times the logarithm of a number."""

from acl_emu.spec import Out, in_place
from aclnnop.math.binary import NOT_310, with_scalar
from aclnnop.math.unary import FLOATS
from aclnnop.math.x_log_y_tensor import aclnnXLogYTensor

aclnnXLogYScalarOther = with_scalar(aclnnXLogYTensor, "aclnnXLogYScalarOther", out=Out(*FLOATS), products=NOT_310)
aclnnInplaceXLogYScalarOther = in_place(aclnnXLogYScalarOther)
