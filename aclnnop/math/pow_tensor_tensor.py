"""aclnnPowTensorTensor and aclnnInplacePowTensorTensor: every element to the power of the other one."""

from typing import Annotated

from acl_emu.spec import In, Operand, Out, Plan, Product, in_place, operator
from aclnnop.math.binary import EVERY, NUMBERS
from aclnnop.math.power import WITHOUT_BOOL, power_examples, raised
from aclnnop.math.unary import without_bf16

BaseIn = Annotated[Operand, In(*NUMBERS, on={Product.A310B: without_bf16(NUMBERS)})]
PowerOut = Annotated[Operand, Out(*EVERY, on={Product.A310B: without_bf16(EVERY)})]


@operator()
def aclnnPowTensorTensor(self: BaseIn, exponent: BaseIn, out: PowerOut) -> Plan:
    """Raise every element to the power of the other one."""
    return raised(self, exponent, out)


aclnnPowTensorTensor.example(lambda: power_examples(aclnnPowTensorTensor))
aclnnInplacePowTensorTensor = in_place(
    aclnnPowTensorTensor,
    *WITHOUT_BOOL,
    on={Product.A310B: without_bf16(WITHOUT_BOOL)},
    ref="self",
    const=True,
    instead={"exponent": In(*WITHOUT_BOOL, on={Product.A310B: without_bf16(WITHOUT_BOOL)})},
)
