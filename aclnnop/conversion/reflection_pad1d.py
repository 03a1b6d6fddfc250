"""aclnnReflectionPad1d: a border of 1 dimension that mirrors the tensor."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import NEWEST, OLD, REFLECTED, REFLECTION, padded

ON = {Product.A950: NEWEST, Product.A910: OLD, Product.A310P: OLD}

aclnnReflectionPad1d = padded("aclnnReflectionPad1d", REFLECTION, 1, *REFLECTED, on=ON)
