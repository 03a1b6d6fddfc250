"""aclnnFastGelu: the Gaussian error linear unit, by a logistic function."""

from typing import Any

from acl_emu.spec import Array
from aclnnop.activation.curves import swish
from aclnnop.math.unary import FLOATS, NEWER, same, unary

SLOPE = 1.702
"""Of the argument of the logistic function that stands for the normal distribution function."""


@unary(*FLOATS, rule=same, products=NEWER)
def aclnnFastGelu(self: Array) -> Any:
    """Weigh every element with the logistic function of 1.702 times it."""
    return swish(self, SLOPE)
