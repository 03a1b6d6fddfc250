"""aclnnXLogYScalarOther and aclnnInplaceXLogYScalarOther: every element times the logarithm of a number."""

from acl_emu.spec import Out, Product, in_place
from aclnnop.math.binary import with_scalar
from aclnnop.math.unary import FLOATS
from aclnnop.math.x_log_y_tensor import aclnnXLogYTensor

aclnnXLogYScalarOther = with_scalar(
    aclnnXLogYTensor, "aclnnXLogYScalarOther", out=Out(*FLOATS), products=aclnnXLogYTensor.products - {Product.A310P}
)
aclnnInplaceXLogYScalarOther = in_place(aclnnXLogYScalarOther)
