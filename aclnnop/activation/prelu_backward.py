"""aclnnPreluBackward: the gradients of aclnnPrelu with respect to its input and its weights."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Example,
    FloatIn,
    FloatOut,
    Plan,
    Product,
    broadcasts_to,
    mapped,
    numbers,
    operator,
    same_dtype,
    same_shape,
)
from aclnnop.activation.channels import weight_shape
from aclnnop.activation.pointwise import NEWER


@operator(products=NEWER | {Product.A910})
def aclnnPreluBackward(gradOutput: FloatIn, self: FloatIn, weight: FloatIn, gradInput: FloatOut, gradWeight: FloatOut) -> Plan:
    """Scale ``gradOutput`` by the slope at ``self``; a weight's gradient is the sum over what it scales."""
    same_dtype(gradOutput, self, weight, gradInput, gradWeight)
    shape = weight_shape(self, weight)
    same_shape(weight, gradWeight)
    broadcasts_to(self.shape, "that of self", gradOutput)
    same_shape(self, gradInput)
    writes = (gradInput, gradWeight)
    return mapped(gradients, reads=(gradOutput, self, weight), writes=writes, dtype=self.dtype, shape=shape)


@aclnnPreluBackward.example
def examples() -> Iterator[Example]:
    """One weight, one for each channel, one for a vector."""
    for dtype, shape, weight in ((FLOAT, (2, 3, 4), (3,)), (BF16, (2, 3), (1,)), (FLOAT16, (5,), ()), (FLOAT, (2, 3, 4), (1, 3, 1))):
        arrays = {name: numbers(shape, dtype, seed) for seed, name in enumerate(("gradOutput", "self", "gradInput"))}
        yield {**arrays, "weight": numbers(weight, dtype, 3), "gradWeight": numbers(weight, dtype, 4)}


def gradients(grad: Array, x: Array, weights: Array, *, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Of the input, and of the weights: summed along all axes that these are broadcast along."""
    scaled = np.where(x > 0, 0, grad * x)
    kept = (1,) if weights.size > 1 else ()
    axes = tuple(axis for axis in range(x.ndim) if axis not in kept)
    return np.where(x > 0, grad, grad * weights.reshape(shape)), scaled.sum(axis=axes, dtype=np.float64).reshape(weights.shape)
