"""aclnnPdist: distances between the rows of a matrix."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Example, Float, In, Operand, Out, Plan, Product, numbers, operator
from aclnnop.math.distances import pairs

PRODUCTS = frozenset({Product.A3, Product.A2, Product.A910})
Points = Annotated[Operand, In(FLOAT, FLOAT16, rank=2)]
Distances = Annotated[Operand, Out(FLOAT, FLOAT16, rank=1)]


@operator(products=PRODUCTS)
def aclnnPdist(self: Points, p: Float, out: Distances) -> Plan:
    """Give the distance of every two rows by the norm ``p``."""
    return pairs(self, p, "p", out)


@aclnnPdist.example
def examples() -> Iterator[Example]:
    """Some norms."""
    for dtype, p in ((FLOAT, 2.0), (FLOAT16, 1.0), (FLOAT, 3.5)):
        yield {"self": numbers((5, 3), dtype, 1), "p": p, "out": numbers((10,), dtype, 2)}
