"""aclnnCircularPad3dBackward: the gradient of aclnnCircularPad3d."""

from aclnnop.conversion.borders import CIRCLE, HALVES, padded_backward
from aclnnop.conversion.moves import NEWER

aclnnCircularPad3dBackward = padded_backward("aclnnCircularPad3dBackward", CIRCLE, 3, *HALVES, products=NEWER)
