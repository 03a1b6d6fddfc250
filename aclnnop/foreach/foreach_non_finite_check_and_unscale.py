"""aclnnForeachNonFiniteCheckAndUnscale: gradients divided by their scale, and whether any was infinite or not a number."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import (
    DTYPE,
    FORMAT,
    LENGTH,
    NULL,
    RANK,
    Array,
    Example,
    In,
    InOut,
    Operand,
    Operator,
    Plan,
    Product,
    direct,
    length_is,
    mapped,
    numbers,
    operator,
    require,
    together,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.foreach.each import FLOATS, PRODUCTS, TensorsInOut, same_lengths
from aclnnop.foreach.formula import multiply

MOST = 256


def tiling(operator: Operator, values: tuple[Any, ...]) -> None:
    """561002 for what is wrong with the list, and for a flag or a scale that is not a single number."""
    scaled, found, scale = values
    with in_tiling():
        require(len(scaled) <= MOST, f"scaledGrads has {len(scaled)} members, expected at most {MOST}")
        RANK(operator, values)
        same_lengths(operator, values)
        for single in (found, scale):
            length_is(single, 1, "a single number")


@operator(products=PRODUCTS | {Product.A310P}, checks=(NULL, LENGTH, DTYPE, FORMAT, tiling))
def aclnnForeachNonFiniteCheckAndUnscale(
    scaledGrads: Annotated[list[Operand], TensorsInOut(*FLOATS)],
    foundInf: Annotated[Operand, InOut(FLOAT)],
    invScale: Annotated[Operand, In(FLOAT)],
) -> Plan:
    """Multiply every tensor of a list by ``invScale``; where one had an infinity or NaN, ``foundInf`` becomes 1."""
    scale = invScale.in_view(())
    return together(
        [
            direct(flag, reads=scaledGrads, writes=(foundInf,), scratch={}),
            *(mapped(multiply, reads=(one, scale), writes=(one,), dtype=one.dtype) for one in scaledGrads),
        ]
    )


@aclnnForeachNonFiniteCheckAndUnscale.example
def examples() -> Iterator[Example]:
    """Gradients that are finite, and some that are not."""
    for dtype, odd in ((FLOAT, 1.0), (FLOAT16, np.inf)):
        scaled = [numbers((3, 4), dtype, 1, 9), numbers((2, 1, 5), dtype, 2, 9)]
        scaled[1][0, 0, 3] = odd
        yield {"scaledGrads": scaled, "foundInf": np.array([0.25], np.float32), "invScale": np.array([0.125], np.float32)}


def flag(*arrays: Array) -> None:
    """Set the last array to 1 where another one holds what is not finite."""
    *scaled, found = arrays
    if not all(np.isfinite(one).all() for one in scaled):
        found[...] = 1
