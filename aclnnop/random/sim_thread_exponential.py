"""aclnnSimThreadExponential: exponentially distributed numbers in all elements of a tensor."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Double, Example, InOut, Int, Operand, Plan, Product, length_is, numbers, operator, require
from aclnnop.random.drawing import NEWER, Seed
from aclnnop.random.uniform_numbers import exponential


@operator(products=NEWER)
def aclnnSimThreadExponential(
    selfRef: Annotated[Operand, InOut(FLOAT, FLOAT16, BF16, const=False)], count: Int, lambda_: Double, seed: Int, offset: Int
) -> Plan:
    """Fill the first ``count`` elements with exponentially distributed numbers, whose mean is ``1 / lambda``."""
    require(lambda_ > 0, f"lambda is {lambda_}, expected a value above 0")
    require(count >= 0, f"count is {count}, expected a value of at least 0")
    if soc.current().product is Product.A950:
        length_is(selfRef, count, "count")
    return exponential(selfRef, count, lambda_, Seed(seed, offset))


@aclnnSimThreadExponential.example
def examples() -> Iterator[Example]:
    """Each type."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {"selfRef": numbers((3, 5), dtype), "count": 15, "lambda": 0.5, "seed": 5, "offset": 12}
