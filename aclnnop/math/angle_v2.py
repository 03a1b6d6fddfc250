"""aclnnAngleV2: the angle of every element in the complex plane."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, COMPLEX64, FLOAT, FLOAT16, INT32
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, Product, castable, mapped, numbers, operator, same_shape
from aclnnop.math.unary import FLOATS, INTEGRAL, NEWER, without_bf16

TYPES = (*FLOATS, *INTEGRAL, COMPLEX64)


@operator(products=NEWER)
def aclnnAngleV2(
    x: Annotated[Operand, In(*TYPES, on=dict.fromkeys((Product.A3, Product.A2), without_bf16(TYPES)))],
    out: Annotated[Operand, Out(*FLOATS, const=True)],
) -> Plan:
    """Take the angle of every element: 0 or pi for real numbers."""
    via = x.dtype if x.dtype.kind == "float" else FLOAT
    castable(via, out)
    same_shape(x, out)
    if x.dtype is COMPLEX64:
        return mapped(np.angle, reads=(x,), writes=(out,), dtype=via, raw=(x,))
    return mapped(half_turns, reads=(x,), writes=(out,), dtype=via)


@aclnnAngleV2.example
def examples() -> Iterator[Example]:
    """Real, whole and complex numbers."""
    for dtype, result in ((FLOAT, FLOAT), (FLOAT16, FLOAT16), (INT32, FLOAT), (COMPLEX64, FLOAT)):
        yield {"x": numbers((3, 5), dtype, 1, 3), "out": numbers((3, 5), result, 2)}


@aclnnAngleV2.example_on(Product.A950)
def of_bf16() -> Iterator[Example]:
    """What the others do not take."""
    yield {"x": numbers((3, 5), BF16, 1, 3), "out": numbers((3, 5), BF16, 2)}


def half_turns(x: Array) -> Array:
    """Of real numbers; NaN stays."""
    return np.where(x < 0, np.pi, np.where(x >= 0, 0, x))
