"""aclnnAdaptiveMaxPool2dBackward: the gradient of aclnnAdaptiveMaxPool2d."""

from typing import Annotated

from acl_emu.spec import In, Operand, Plan, operator
from aclnnop.pooling.average import PLANE
from aclnnop.pooling.maximum import NEWER, PLACES, PlaneIn, PlaneOut, adaptive_examples, check_places, maximum_gradient
from aclnnop.pooling.windows import share, spatial


@operator(products=NEWER)
def aclnnAdaptiveMaxPool2dBackward(
    gradOutput: PlaneIn, self: PlaneIn, indices: Annotated[Operand, In(*PLACES, rank=PLANE)], gradInput: PlaneOut
) -> Plan:
    """Add the gradients up where the largest elements were."""
    check_places(self, 2)
    return maximum_gradient(gradOutput, self, indices, share(self, 2, spatial(gradOutput, 2)), gradInput)


aclnnAdaptiveMaxPool2dBackward.example(lambda: adaptive_examples(aclnnAdaptiveMaxPool2dBackward, 2))
