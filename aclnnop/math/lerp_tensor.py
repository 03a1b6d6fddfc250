"""aclnnLerp and aclnnInplaceLerp: numbers on the way from one tensor to another."""

from acl_emu.spec import FloatIn, FloatOut, Plan, in_place, operator, same_dtype
from aclnnop.math.binary import NOT_310B
from aclnnop.math.interpolation import interpolated, interpolation_examples


@operator(products=NOT_310B)
def aclnnLerp(self: FloatIn, end: FloatIn, weight: FloatIn, out: FloatOut) -> Plan:
    """Go from every element to the other one by the part that ``weight`` says."""
    same_dtype(self, end, weight, out)
    return interpolated(self, end, weight, out)


aclnnLerp.example(interpolation_examples)
aclnnInplaceLerp = in_place(aclnnLerp)
