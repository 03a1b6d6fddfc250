"""aclnnForeachZeroInplace: zeros in every tensor of a list."""

from typing import Annotated

from acl_emu.core.dtypes import INT16, INT32
from acl_emu.spec import Array, Operand, Plan, direct, nothing, operator, together
from aclnnop.foreach.each import CHECKS, FLOATS, PRODUCTS, TensorsInOut, examples


@operator(products=PRODUCTS, checks=CHECKS)
def aclnnForeachZeroInplace(x: Annotated[list[Operand], TensorsInOut(*FLOATS, INT16, INT32)]) -> Plan:
    """Set every element of every tensor of a list to zero."""
    return together([direct(clear, reads=(), writes=(one,), scratch={}) if one.size else nothing() for one in x])


aclnnForeachZeroInplace.example(lambda: examples(aclnnForeachZeroInplace))


def clear(x: Array) -> None:
    """In place."""
    x[...] = 0
