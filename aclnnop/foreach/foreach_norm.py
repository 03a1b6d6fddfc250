"""aclnnForeachNorm: the norm of every tensor of a list."""

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    DTYPE,
    FORMAT,
    LENGTH,
    NULL,
    RANK,
    Example,
    HandleKind,
    Operand,
    Operator,
    Plan,
    Product,
    length_is,
    numbers,
    operator,
    together,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.foreach.each import FLOATS, PRODUCTS, TensorsIn, TensorsOut, same_lengths, same_types
from aclnnop.math.reduction import norm, reduced


def tiling(operator: Operator, values: tuple[Any, ...]) -> None:
    """561002 for what is wrong with the lists, and for results that hold more or less than one number."""
    with in_tiling():
        RANK(operator, values)
        same_lengths(operator, values)
        for result in values[2]:
            length_is(result, 1, "a norm is a single number")


@operator(products=PRODUCTS, checks=(NULL, LENGTH, DTYPE, FORMAT, same_types, tiling))
def aclnnForeachNorm(
    x: Annotated[list[Operand], TensorsIn(*FLOATS)],
    scalar: Annotated[Scalar, HandleKind(Scalar, FLOAT, DOUBLE, INT64)],
    out: Annotated[list[Operand], TensorsOut(*FLOATS)],
) -> Plan:
    """Take the norm of every tensor of a list; ``scalar`` is its order. 950 has the orders 1, 2 and infinity."""
    order = float(scalar.value)
    if soc.current().product is Product.A950 and order != math.inf:
        order = 1.0 if not math.isnan(order) and int(np.clip(order, -9, 9)) == 1 else 2.0
    return together(
        [
            reduced(norm, one, tuple(range(one.rank)), False, result, dtype=one.dtype, of_none=0.0, order=order)
            for one, result in zip(x, out, strict=True)
        ]
    )


@aclnnForeachNorm.example
def examples() -> Iterator[Example]:
    """Lengths, and the largest magnitude."""
    for dtype, order in ((FLOAT, 2.0), (BF16, math.inf), (FLOAT, 1)):
        x = [numbers(shape, dtype, 1, 3) for shape in ((3, 4), (2, 1, 5))]
        yield {"x": x, "scalar": order, "out": [numbers((1, 1), dtype), numbers((), dtype)]}
