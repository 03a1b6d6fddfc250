"""aclnnLgamma: the logarithm of the magnitude of the gamma function."""

from typing import Any

from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, Product
from aclnnop.math.special import lgamma
from aclnnop.math.unary import same, unary


@unary(FLOAT, FLOAT16, DOUBLE, rule=same, products=ALL - {Product.A310B}, one_format=True)
def aclnnLgamma(self: Array) -> Any:
    """Take the logarithm of the magnitude of the gamma function at every element."""
    return lgamma(self)
