"""aclnnDeformableConv2dBackward: the gradients of a convolution whose samples are moved and weighted."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine.casting import cast
from acl_emu.engine.matmul import matmul
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Int,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.conv.deformable import Corners, Moves, corners_of, moves_of, sampled

FLOATS = (FLOAT, FLOAT16, BF16)
Images = Annotated[Operand, In(*FLOATS, rank=4)]
Gradient = Annotated[Operand, Out(*FLOATS, rank=4)]


@operator(products=frozenset({Product.A950}))
def aclnnDeformableConv2dBackward(
    input: Images,
    gradOutput: Images,
    offsetOut: Images,
    weight: Images,
    offset: Images,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    groups: Int,
    deformableGroups: Int,
    modulated: Bool,
    gradInput: Gradient,
    gradWeight: Gradient,
    gradOffset: Gradient,
    gradBias: Annotated[Operand, Out(*FLOATS, rank=1)],
) -> Plan:
    """The gradients with respect to images, kernel, moves and weights of samples, and bias."""
    same_dtype(input, gradOutput, offsetOut, weight, offset, gradInput, gradWeight, gradOffset, gradBias)
    require(modulated, "modulated is False, expected True")
    arrays = {"kernelSize": kernelSize, "stride": stride, "padding": padding, "dilation": dilation}
    moves = moves_of(input, weight, offset, arrays, groups, deformableGroups, modulated)
    (high, wide), places = moves.kernel, moves.places
    shape_is(gradOutput, (input.shape[0], weight.shape[0], *places), "that of the convolution")
    shape_is(offsetOut, (*input.shape[:2], places[0] * high, places[1] * wide), "all samples")
    for source, gradient in ((input, gradInput), (weight, gradWeight), (offset, gradOffset)):
        same_shape(source, gradient)
    shape_is(gradBias, weight.shape[:1], "the output channels of weight")
    terms, count = input.shape[1] // groups * moves.taps, places[0] * places[1]
    return direct(
        differentiate,
        reads=(input, gradOutput, offsetOut, weight, offset),
        writes=(gradInput, gradWeight, gradOffset, gradBias),
        scratch={
            "columns": ((groups, terms, count), np.float32),
            "kernel": ((groups, weight.shape[0] // groups, terms), np.float32),
            "rows": ((groups, weight.shape[0] // groups, count), np.float32),
        },
        moves=moves,
    )


def differentiate(
    x: Array,
    gradient: Array,
    samples: Array,
    weight: Array,
    offset: Array,
    of_input: Array,
    of_weight: Array,
    of_offset: Array,
    of_bias: Array,
    *,
    moves: Moves,
    columns: Array,
    kernel: Array,
    rows: Array,
) -> None:
    """Image by image: gradients of the samples, and what they mean for pixels, moves and weights."""
    (high, wide), places = moves.kernel, moves.places
    factors = np.ascontiguousarray(weight).reshape(kernel.shape)
    kernel[...] = 0
    channels, height, width = x.shape[1:]
    inputs, offsets = np.zeros(of_input.shape, np.float32), np.zeros(of_offset.shape, np.float32)
    for index in range(len(x)):
        rows[...] = gradient[index].reshape(rows.shape)
        split = samples[index].reshape(channels, places[0], high, places[1], wide)
        columns[...] = split.transpose(0, 2, 4, 1, 3).reshape(columns.shape)
        matmul(rows, columns.swapaxes(-1, -2), kernel, add=True)
        matmul(factors.swapaxes(-1, -2), rows, columns)
        corners = corners_of(offset[index], moves, height, width)
        grad = columns.reshape(moves.parts, channels // moves.parts, high, wide, *places)
        image = x[index].astype(np.float32)
        vertical, horizontal = ((grad * sampled(image, corners, along)).sum(axis=1) * corners.mask for along in corners.along)
        weights = (grad * sampled(image, corners, corners.weights)).sum(axis=1)
        offsets[index] = np.stack((horizontal, vertical, weights)).reshape(of_offset.shape[1:])
        inputs[index] = scattered(grad * corners.mask[:, np.newaxis], corners, height * width).reshape(channels, height, width)
    cast(inputs, of_input)
    cast(offsets, of_offset)
    cast(kernel.reshape(weight.shape), of_weight)
    cast(np.ascontiguousarray(gradient).astype(np.float64).sum(axis=(0, 2, 3)), of_bias)


def scattered(gradients: Array, corners: Corners, pixels: int) -> Array:
    """What the gradients of samples add to each pixel of each channel."""
    parts, channels = gradients.shape[:2]
    total = np.zeros((parts, channels * pixels))
    first = np.arange(channels).reshape(-1, 1, 1, 1, 1) * pixels
    for part in range(parts):
        for places, weights in zip(corners.pixels[:, part], corners.weights[:, part], strict=True):
            values = gradients[part] * weights
            total[part] += np.bincount((first + places).ravel(), values.ravel(), channels * pixels)
    return total


@aclnnDeformableConv2dBackward.example
def examples() -> Iterator[Example]:
    """Groups of channels, and of moves."""
    for dtype, parts in ((FLOAT, 2), (FLOAT16, 1)):
        yield {
            "input": numbers((2, 4, 5, 6), dtype, 1),
            "gradOutput": numbers((2, 6, 3, 5), dtype, 2),
            "offsetOut": numbers((2, 4, 9, 10), dtype, 3),
            "weight": numbers((6, 2, 3, 2), dtype, 4),
            "offset": between(-1.5, 1.5, (2, 18 * parts, 3, 5), dtype, 5),
            "kernelSize": [3, 2],
            "stride": [1, 1, 2, 1],
            "padding": [1, 1, 0, 0],
            "dilation": [1, 1, 1, 1],
            "groups": 2,
            "deformableGroups": parts,
            "modulated": True,
            "gradInput": numbers((2, 4, 5, 6), dtype, 6),
            "gradWeight": numbers((6, 2, 3, 2), dtype, 7),
            "gradOffset": numbers((2, 18 * parts, 3, 5), dtype, 8),
            "gradBias": numbers((6,), dtype, 9),
        }
