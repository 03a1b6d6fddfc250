"""aclnnReflectionPad1dBackward: the gradient of aclnnReflectionPad1d."""

from aclnnop.conversion.borders import FLOATING, REFLECTION, padded_backward

aclnnReflectionPad1dBackward = padded_backward("aclnnReflectionPad1dBackward", REFLECTION, 1, *FLOATING)
