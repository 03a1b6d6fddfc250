"""aclnnReflectionPad2d: a border of 2 dimensions that mirrors the tensor."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import NEWEST, OLD, REFLECTED, REFLECTION, padded

ON = {Product.A950: NEWEST, Product.A910: OLD, Product.A310P: OLD}

aclnnReflectionPad2d = padded("aclnnReflectionPad2d", REFLECTION, 2, *REFLECTED, on=ON)
