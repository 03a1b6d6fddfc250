"""aclnnGridSampler2D: samples of images at the positions of a grid."""

from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, Bool, In, Operand, Out, Plan, Product, operator, require
from aclnnop.image.grids import EXAMPLES, FLOATS, Interpolation, InterpolationMode, PaddingMode, grid_examples, sample

WITHOUT_BF16 = dict.fromkeys((Product.A3, Product.A2), (FLOAT, FLOAT16, DOUBLE))
BICUBIC_TYPES = (FLOAT, FLOAT16)
BICUBIC = ((FLOAT, 2, 0, False), (FLOAT16, 2, 2, True), (FLOAT, 2, 1, False))


@operator(products=ALL)
def aclnnGridSampler2D(
    input: Annotated[Operand, In(*FLOATS, rank=4, on=WITHOUT_BF16)],
    grid: Annotated[Operand, In(*FLOATS, rank=4, on=WITHOUT_BF16)],
    interpolationMode: InterpolationMode,
    paddingMode: PaddingMode,
    alignCorners: Bool,
    out: Annotated[Operand, Out(*FLOATS, rank=4, on=WITHOUT_BF16)],
) -> Plan:
    """Take a sample of ``input`` at each position of ``grid``."""
    if interpolationMode == Interpolation.BICUBIC:
        chip = soc.current()
        require(chip.product is not Product.A910, f"interpolationMode is 2 (bicubic), expected 0 or 1 on {chip.name}")
        require(
            input.dtype in BICUBIC_TYPES, f"interpolationMode is 2 (bicubic) with input of dtype {input.dtype}, expected FLOAT or FLOAT16"
        )
    return sample(input, grid, out, interpolation=interpolationMode, padding=paddingMode, aligned=alignCorners)


aclnnGridSampler2D.example(lambda: grid_examples(aclnnGridSampler2D, 2, (*EXAMPLES, (DOUBLE, 0, 1, True))))
aclnnGridSampler2D.example_on(*ALL - {Product.A910})(lambda: grid_examples(aclnnGridSampler2D, 2, BICUBIC))
aclnnGridSampler2D.example_on(Product.A950)(lambda: grid_examples(aclnnGridSampler2D, 2, [(BF16, 1, 2, False)]))
