"""aclnnPdistForward: distances between the rows of a matrix."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Example, Plan, ScalarIn, numbers, operator
from aclnnop.math.distances import pairs
from aclnnop.math.pdist import PRODUCTS, Distances, Points


@operator(products=PRODUCTS)
def aclnnPdistForward(self: Points, pScalar: ScalarIn, out: Distances) -> Plan:
    """Give the distance of every two rows by the norm ``pScalar``."""
    return pairs(self, float(np.real(pScalar.value)), "pScalar", out)


@aclnnPdistForward.example
def examples() -> Iterator[Example]:
    """Some norms, of any type."""
    for dtype, p in ((FLOAT, 2.0), (FLOAT16, 1), (FLOAT, np.float64(np.inf))):
        yield {"self": numbers((5, 3), dtype, 1), "pScalar": p, "out": numbers((10,), dtype, 2)}
