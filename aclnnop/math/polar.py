"""aclnnPolar: complex numbers from their lengths and angles."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import COMPLEX64, FLOAT
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, Product, broadcast_shape, numbers, operator, require, shape_is
from aclnnop.conversion.moves import NEWER, rearranged


@operator(products=NEWER | {Product.A310P})
def aclnnPolar(input: Annotated[Operand, In(FLOAT)], angle: Annotated[Operand, In(FLOAT)], out: Annotated[Operand, Out(COMPLEX64)]) -> Plan:
    """Turn lengths and angles into complex numbers."""
    require(input.rank == angle.rank, f"angle has {angle.rank} dimensions, expected as many as input: {input.rank}")
    shape_is(out, broadcast_shape(input, angle), "that of the result")
    return rearranged(rotated, (input, angle), out)


@aclnnPolar.example
def examples() -> Iterator[Example]:
    """Tensors that broadcast."""
    yield {"input": numbers((3, 4), FLOAT, 1), "angle": numbers((1, 4), FLOAT, 2, 3), "out": numbers((3, 4), COMPLEX64, 3)}


def rotated(length: Array, angle: Array) -> Array:
    """In float64."""
    wide = angle.astype(np.float64)
    found = np.empty(np.broadcast_shapes(length.shape, angle.shape), np.complex128)
    found.real, found.imag = length * np.cos(wide), length * np.sin(wide)
    return found
