"""aclnnReflectionPad3d: a border of 3 dimensions that mirrors the tensor."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import NEWEST, OLD, REFLECTED, REFLECTION, padded
from aclnnop.conversion.moves import TRAINING

ON = {Product.A950: NEWEST, Product.A910: OLD, Product.A310P: OLD}

aclnnReflectionPad3d = padded("aclnnReflectionPad3d", REFLECTION, 3, *REFLECTED, on=ON, products=TRAINING)
