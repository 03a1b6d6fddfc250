"""aclnnLogSpace: powers with evenly spaced exponents."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Double, Example, Int, Operand, Out, Plan, ScalarIn, length_is, numbers, operator, require
from aclnnop.conversion.moves import NEWER
from aclnnop.math.series import filled, real, spaced


@operator(products=NEWER)
def aclnnLogSpace(
    start: ScalarIn, end: ScalarIn, steps: Int, base: Double, result: Annotated[Operand, Out(FLOAT, FLOAT16, BF16, const=True)]
) -> Plan:
    """Write ``base`` to the power of ``steps`` numbers from ``start`` to ``end``."""
    first, last = real(start, "start"), real(end, "end")
    require(steps >= 0, f"steps is {steps}, expected a value of at least 0")
    length_is(result, steps, "steps")
    return filled(np.power(base, spaced(first, last, steps)), result)


@aclnnLogSpace.example
def examples() -> Iterator[Example]:
    """Rising and falling."""
    for dtype, base in ((FLOAT, 10.0), (BF16, 0.5)):
        yield {"start": -1, "end": 2.0, "steps": 7, "base": base, "result": numbers((7,), dtype, 2)}
