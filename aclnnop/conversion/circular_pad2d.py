"""aclnnCircularPad2d: a border of 2 dimensions that goes on from the other end."""

from acl_emu.spec import Product
from aclnnop.conversion.borders import CIRCLE, CIRCULAR, padded

OLDER = frozenset({Product.A3, Product.A2})

aclnnCircularPad2d = padded("aclnnCircularPad2d", CIRCLE, 2, *CIRCULAR, products=OLDER)
