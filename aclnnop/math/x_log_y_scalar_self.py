"""aclnnXLogYScalarSelf: a number times the logarithm of every element."""

from acl_emu.spec import In, Out
from aclnnop.math.binary import REAL_NUMBERS, with_scalar
from aclnnop.math.unary import FLOATS
from aclnnop.math.x_log_y_tensor import aclnnXLogYTensor

aclnnXLogYScalarSelf = with_scalar(
    aclnnXLogYTensor, "aclnnXLogYScalarSelf", scalar="self", types=REAL_NUMBERS, tensor=In(*REAL_NUMBERS), out=Out(*FLOATS)
)
