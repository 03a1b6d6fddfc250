"""aclnnReflectionPad3dBackward: the gradient of aclnnReflectionPad3d."""

from aclnnop.conversion.borders import FLOATING, REFLECTION, padded_backward

aclnnReflectionPad3dBackward = padded_backward("aclnnReflectionPad3dBackward", REFLECTION, 3, *FLOATING)
