"""aclnnRReluWithNoise and aclnnInplaceRReluWithNoise: negative elements are scaled by random numbers."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.runtime.tensor import MAX_RANK
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    InOut,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    ScalarIn,
    in_place,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.activation.pointwise import NEWER, applied, number
from aclnnop.foreach.each import flat_as
from aclnnop.math.unary import FLOATS
from aclnnop.random.drawing import uniform

ANY_RANK = (0, MAX_RANK)


@operator(products=NEWER | {Product.A910})
def aclnnRReluWithNoise(
    self: Annotated[Operand, In(*FLOATS, rank=ANY_RANK)],
    noise: Annotated[Operand, InOut(*FLOATS, rank=ANY_RANK)],
    lower: ScalarIn,
    upper: ScalarIn,
    training: Bool,
    seed: Int,
    offset: Int,
    out: Annotated[Operand, Out(*FLOATS, rank=ANY_RANK)],
) -> Plan:
    """Scale every element that is not positive: in training by a random number of its own, else by the mean of both bounds."""
    require(noise.size >= self.size, f"noise has {noise.size} elements, expected at least as many as self: {self.size}")
    same_dtype(self, noise, out)
    same_shape(self, out)
    low, high = number(lower, self.dtype), number(upper, self.dtype)
    if not training:
        middle = (low + high) / 2

        def scaled(x: Array) -> Array:
            return np.where(x > 0, x, x * middle)

        return applied(scaled, self.dtype, (self,), out)

    def randomly_scaled(x: Array) -> tuple[Array, Array]:
        drawn = np.where(x > 0, 1, low + (high - low) * uniform(x.shape, seed, offset))
        return x * drawn, drawn

    drawn_into = flat_as(self, noise)
    return mapped(randomly_scaled, reads=(self,), writes=(out, drawn_into), dtype=self.dtype)


aclnnInplaceRReluWithNoise = in_place(aclnnRReluWithNoise, ref="self", const=True)


@aclnnRReluWithNoise.example
def examples() -> Iterator[Example]:
    """In training and not."""
    for dtype, training in ((FLOAT, False), (FLOAT, True), (BF16, True), (FLOAT16, False)):
        arrays = {name: numbers((3, 5), dtype, place) for place, name in enumerate(("self", "noise", "out"))}
        yield {**arrays, "lower": 0.125, "upper": 0.5, "training": training, "seed": 7, "offset": 3}
