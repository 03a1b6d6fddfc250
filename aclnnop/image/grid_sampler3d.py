"""aclnnGridSampler3D: samples of images at the positions of a grid."""

from acl_emu.core.dtypes import BF16, DOUBLE
from acl_emu.spec import Bool, Plan, operator
from aclnnop.image.grids import EXAMPLES, PaddingMode, SimpleMode, VolumeIn, VolumeOut, grid_examples, sample
from aclnnop.image.upsampling import TRAINING


@operator(products=TRAINING)
def aclnnGridSampler3D(
    input: VolumeIn,
    grid: VolumeIn,
    interpolationMode: SimpleMode,
    paddingMode: PaddingMode,
    alignCorners: Bool,
    out: VolumeOut,
) -> Plan:
    """Take a sample of ``input`` at each position of ``grid``."""
    return sample(input, grid, out, interpolation=interpolationMode, padding=paddingMode, aligned=alignCorners)


aclnnGridSampler3D.example(lambda: grid_examples(aclnnGridSampler3D, 3, (*EXAMPLES, (DOUBLE, 0, 1, True), (BF16, 1, 2, False))))
