"""aclnnGridSampler2DBackward: the gradients of aclnnGridSampler2D."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Bool, BoolArrayIn, In, Operand, Out, Plan, Product, operator
from aclnnop.image.grids import FLOATS, PaddingMode, SimpleMode, grid_examples, sample_gradient
from aclnnop.image.upsampling import NEWER, TRAINING

OLDER = {Product.A910: (FLOAT16, FLOAT)}
PlaneIn = Annotated[Operand, In(*FLOATS, rank=4, on=OLDER)]
PlaneOut = Annotated[Operand, Out(*FLOATS, rank=4, on=OLDER)]


@operator(products=TRAINING)
def aclnnGridSampler2DBackward(
    gradOutput: PlaneIn,
    input: PlaneIn,
    grid: PlaneIn,
    interpolationMode: SimpleMode,
    paddingMode: PaddingMode,
    alignCorners: Bool,
    outputMask: BoolArrayIn,
    inputGrad: PlaneOut,
    gridGrad: PlaneOut,
) -> Plan:
    """Give the gradients of samples back to the elements of ``input`` and to the positions of ``grid``."""
    modes = {"interpolation": interpolationMode, "padding": paddingMode, "aligned": alignCorners}
    return sample_gradient(gradOutput, input, grid, outputMask, inputGrad, gridGrad, **modes)


aclnnGridSampler2DBackward.example(lambda: grid_examples(aclnnGridSampler2DBackward, 2))
aclnnGridSampler2DBackward.example_on(*NEWER)(
    lambda: grid_examples(aclnnGridSampler2DBackward, 2, [(BF16, 1, 2, False), (DOUBLE, 0, 1, True)])
)
