"""aclnnForeachCopy: a copy of every tensor of a list."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32
from acl_emu.spec import Operand, Plan, Product, mapped, operator
from aclnnop.foreach.each import CHECKS, TensorsIn, TensorsOut, examples, for_each
from aclnnop.math.unary import unchanged

TYPES = (FLOAT, FLOAT16, BF16, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, DOUBLE, BOOL)


@operator(products=frozenset({Product.A950, Product.A2}), checks=CHECKS)
def aclnnForeachCopy(x: Annotated[list[Operand], TensorsIn(*TYPES)], out: Annotated[list[Operand], TensorsOut(*TYPES)]) -> Plan:
    """Copy every tensor of a list."""
    return for_each(copied, x, out)


aclnnForeachCopy.example(lambda: examples(aclnnForeachCopy))


def copied(self: Operand, out: Operand) -> Plan:
    """Bit by bit."""
    return mapped(unchanged, reads=(self,), writes=(out,), dtype=self.dtype)
