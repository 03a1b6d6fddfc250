"""aclnnForeachCopy: a copy of every tensor of a list."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32
from acl_emu.spec import Example, Operand, Plan, mapped, numbers, operator
from aclnnop.foreach.each import PRODUCTS, TensorsIn, TensorsOut, checks_of, for_each
from aclnnop.math.unary import unchanged

TYPES = (FLOAT, FLOAT16, BF16, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, DOUBLE, BOOL)
CASTS = {FLOAT: (FLOAT, FLOAT16, BF16), FLOAT16: (FLOAT16, FLOAT)}


@operator(products=PRODUCTS, checks=checks_of(CASTS))
def aclnnForeachCopy(x: Annotated[list[Operand], TensorsIn(*TYPES)], out: Annotated[list[Operand], TensorsOut(*TYPES)]) -> Plan:
    """Copy every tensor of a list, FLOAT and FLOAT16 also with a cast."""
    return for_each(copied, x, out)


@aclnnForeachCopy.example
def examples() -> Iterator[Example]:
    """Copies of floats and of truth values, and casts."""
    shapes = ((3, 4), (2, 1, 5))
    for given, wanted in ((FLOAT, FLOAT), (BOOL, BOOL), (FLOAT, BF16), (FLOAT16, FLOAT)):
        x = [numbers(shape, given, seed) for seed, shape in enumerate(shapes)]
        yield {"x": x, "out": [numbers(shape, wanted, 7) for shape in shapes]}


def copied(self: Operand, out: Operand) -> Plan:
    """Bit by bit, or rounded to the type of the result."""
    return mapped(unchanged, reads=(self,), writes=(out,), dtype=self.dtype)
