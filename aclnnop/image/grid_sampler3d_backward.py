"""aclnnGridSampler3DBackward: the gradients of aclnnGridSampler3D."""

from acl_emu.core.dtypes import BF16, DOUBLE
from acl_emu.spec import Bool, BoolArrayIn, Plan, operator
from aclnnop.image.grids import EXAMPLES, PaddingMode, SimpleMode, VolumeIn, VolumeOut, grid_examples, sample_gradient
from aclnnop.image.upsampling import TRAINING


@operator(products=TRAINING)
def aclnnGridSampler3DBackward(
    gradOutput: VolumeIn,
    input: VolumeIn,
    grid: VolumeIn,
    interpolationMode: SimpleMode,
    paddingMode: PaddingMode,
    alignCorners: Bool,
    outputMask: BoolArrayIn,
    inputGrad: VolumeOut,
    gridGrad: VolumeOut,
) -> Plan:
    """Give the gradients of samples back to the elements of ``input`` and to the positions of ``grid``."""
    modes = {"interpolation": interpolationMode, "padding": paddingMode, "aligned": alignCorners}
    return sample_gradient(gradOutput, input, grid, outputMask, inputGrad, gridGrad, **modes)


aclnnGridSampler3DBackward.example(
    lambda: grid_examples(aclnnGridSampler3DBackward, 3, (*EXAMPLES, (DOUBLE, 0, 1, True), (BF16, 1, 2, False)))
)
