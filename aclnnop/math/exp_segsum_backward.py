"""aclnnExpSegsumBackward: the gradient of exponentials of all sums of neighbouring elements."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.reduction import FLOATS

GradientIn = Annotated[Operand, In(*FLOATS, rank=(4, 5))]


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnExpSegsumBackward(gradOutput: GradientIn, gradSelf: GradientIn, gradInput: Annotated[Operand, Out(*FLOATS, rank=(3, 4))]) -> Plan:
    """Add up ``gradOutput`` times ``gradSelf``, the result of the forward, over all segments that an element belongs to."""
    same_dtype(gradOutput, gradSelf, gradInput)
    same_shape(gradOutput, gradSelf)
    require(
        gradOutput.shape[-1] == gradOutput.shape[-2],
        f"gradOutput has shape {list(gradOutput.shape)}, expected two equal lengths at the end",
    )
    shape_is(gradInput, gradOutput.shape[:-1], "gradOutput without its last dimension")
    return mapped(segment_gradient, reads=(gradOutput, gradSelf), writes=(gradInput,), dtype=gradOutput.dtype)


@aclnnExpSegsumBackward.example
def examples() -> Iterator[Example]:
    """Both ranks."""
    for dtype, shape in ((FLOAT, (2, 3, 5)), (BF16, (2, 1, 3, 4))):
        square = (*shape, shape[-1])
        yield {"gradOutput": numbers(square, dtype, 1), "gradSelf": numbers(square, dtype, 2), "gradInput": numbers(shape, dtype, 3)}


def segment_gradient(gradient: Array, result: Array) -> Array:
    """Segments begin below the diagonal."""
    below = np.tri(gradient.shape[-1], k=-1, dtype=np.bool_)
    terms = np.where(below, gradient.astype(np.float64) * result, 0)
    sums = np.flip(np.flip(terms, -2).cumsum(axis=-2), -2)
    found: Array = np.where(below, sums, 0).sum(axis=-1)
    return found
