"""aclnnLinspace: evenly spaced numbers."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, UINT8
from acl_emu.spec import Example, Int, Operand, Out, Plan, ScalarIn, length_is, numbers, operator, require
from aclnnop.conversion.moves import EVERY
from aclnnop.math.series import filled, real, spaced


@operator(products=EVERY)
def aclnnLinspace(
    start: ScalarIn, end: ScalarIn, steps: Int, out: Annotated[Operand, Out(INT8, INT16, INT32, UINT8, FLOAT, FLOAT16, DOUBLE, BF16)]
) -> Plan:
    """Write ``steps`` numbers from ``start`` to ``end``, as far from each other everywhere."""
    first, last = real(start, "start"), real(end, "end")
    require(steps >= 0, f"steps is {steps}, expected a value of at least 0")
    length_is(out, steps, "steps")
    return filled(spaced(first, last, steps), out)


@aclnnLinspace.example
def examples() -> Iterator[Example]:
    """Rising and falling."""
    for dtype, start, end in ((FLOAT, 0.5, 7), (BF16, 3, -3.0), (INT32, 0, 20)):
        yield {"start": start, "end": end, "steps": 7, "out": numbers((7,), dtype, 2)}
