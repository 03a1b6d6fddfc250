"""aclnnCircularPad2dBackward: the gradient of aclnnCircularPad2d."""

from aclnnop.conversion.borders import CIRCLE, HALVES, Empty, padded_backward
from aclnnop.conversion.moves import NEWER

aclnnCircularPad2dBackward = padded_backward("aclnnCircularPad2dBackward", CIRCLE, 2, *HALVES, products=NEWER, empty=Empty.FIRST)
