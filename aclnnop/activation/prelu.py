"""aclnnPrelu: negative elements are scaled by a weight, one for all or one for each channel."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, Example, FloatIn, FloatOut, Plan, Product, castable, numbers, operator, promote, same_shape
from aclnnop.activation.channels import weight_shape
from aclnnop.activation.pointwise import applied


@operator(products=ALL - {Product.A310B})
def aclnnPrelu(self: FloatIn, weight: FloatIn, out: FloatOut) -> Plan:
    """Scale every negative element by the weight of its channel."""
    via = promote(self, weight)
    castable(via, out)
    same_shape(self, out)
    shape = weight_shape(self, weight)

    def kernel(x: Array, weights: Array) -> Array:
        return np.where(x > 0, x, x * weights.reshape(shape))

    return applied(kernel, via, (self, weight), out)


@aclnnPrelu.example
def examples() -> Iterator[Example]:
    """One weight, one for each channel, one for a vector."""
    for dtype, shape, weight in ((FLOAT, (2, 3, 4), (3,)), (BF16, (2, 3), (1,)), (FLOAT16, (5,), ()), (FLOAT, (2, 3, 4), (1, 3, 1))):
        yield {"self": numbers(shape, dtype, 1), "weight": numbers(weight, dtype, 2), "out": numbers(shape, dtype, 3)}
