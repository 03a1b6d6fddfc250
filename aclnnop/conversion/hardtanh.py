"""aclnnHardtanh and aclnnInplaceHardtanh: elements that are kept between two numbers."""

from acl_emu.spec import Plan, in_place, operator, require, same_dtype, same_shape
from aclnnop.conversion.clamp import LimitScalar, NumberIn, NumberOut
from aclnnop.conversion.limits import between_limits, combined_in, limit_examples
from aclnnop.math.binary import NOT_310B, applied


@operator(products=NOT_310B)
def aclnnHardtanh(self: NumberIn, clipValueMin: LimitScalar, clipValueMax: LimitScalar, out: NumberOut) -> Plan:
    """Keep every element between two numbers."""
    same_dtype(self, out)
    same_shape(self, out)
    low, high = clipValueMin.as_real(), clipValueMax.as_real()
    require(not low > high, f"clipValueMin is {low}, expected a value of at most clipValueMax: {high}")
    dtype = combined_in(self, {"clipValueMin": clipValueMin, "clipValueMax": clipValueMax})
    return applied(between_limits, (self, clipValueMin, clipValueMax), dtype, out)


aclnnHardtanh.example(lambda: limit_examples(aclnnHardtanh))
aclnnInplaceHardtanh = in_place(aclnnHardtanh)
