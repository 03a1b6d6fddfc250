"""aclnnCircularPad3d: a border of 3 dimensions that goes on from the other end."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import CIRCLE, CIRCULAR, padded

OLDER = frozenset({Product.A3, Product.A2})

aclnnCircularPad3d = padded("aclnnCircularPad3d", CIRCLE, 3, *CIRCULAR, products=OLDER)
