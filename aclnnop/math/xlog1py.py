"""aclnnXlog1py: every element times the logarithm of one more than the other one."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, ConstFloatOut, Example, FloatIn, Plan, Product, broadcast_shape, numbers, operator, same_dtype, shape_is
from aclnnop.math.binary import applied, small


@operator(products=frozenset({Product.A950}))
def aclnnXlog1py(x: FloatIn, y: FloatIn, z: ConstFloatOut) -> Plan:
    """Multiply every element by the logarithm of one more than the other one; zero stays zero, unless the other one is NaN."""
    same_dtype(x, y, z)
    shape_is(z, broadcast_shape(x, y), "that of the result")
    return applied(times_log1p, (x, y), x.dtype, z)


def times_log1p(x: Array, y: Array) -> Array:
    """The formula."""
    return np.where((x == 0) & (y == y), 0, x * np.log1p(y))


@aclnnXlog1py.example
def examples() -> Iterator[Example]:
    """Positive numbers that broadcast, of each type."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {"x": small((3, 4, 5), dtype, 1), "y": small((4, 1), dtype, 2), "z": numbers((3, 4, 5), dtype, 3)}
