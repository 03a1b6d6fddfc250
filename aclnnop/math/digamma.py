"""aclnnDigamma: the logarithmic derivative of the gamma function."""

from typing import Any

from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, Product
from aclnnop.math.special import digamma
from aclnnop.math.unary import same, unary


@unary(FLOAT, FLOAT16, DOUBLE, rule=same, products=ALL - {Product.A310B}, one_format=True)
def aclnnDigamma(self: Array) -> Any:
    """Take the logarithmic derivative of the gamma function at every element."""
    return digamma(self)
