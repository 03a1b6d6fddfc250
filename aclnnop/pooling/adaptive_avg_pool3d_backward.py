"""aclnnAdaptiveAvgPool3dBackward: the gradient of aclnnAdaptiveAvgPool3d."""

from acl_emu.core import soc
from acl_emu.spec import ALL, Plan, Product, operator
from aclnnop.pooling.average import VolumeIn, VolumeOut, adaptive_examples, average_gradient
from aclnnop.pooling.windows import filled, share, spatial


@operator(products=ALL - {Product.A310B})
def aclnnAdaptiveAvgPool3dBackward(gradOutput: VolumeIn, self: VolumeIn, out: VolumeOut) -> Plan:
    """Give each element its share of the gradients of the windows that it is in."""
    samples = soc.current().product is Product.A950 and self.rank == 5
    filled(gradOutput, self, first=samples)
    return average_gradient(gradOutput, self, share(self, 3, spatial(gradOutput, 3)), out)


aclnnAdaptiveAvgPool3dBackward.example(lambda: adaptive_examples(aclnnAdaptiveAvgPool3dBackward, 3))
