"""Grid samplers: what a grid of normalised positions says about an image, and the gradients of both.

The positions of -1 and 1 are the centres of the first and last elements, or with ``alignCorners`` off their outer edges.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, DType
from acl_emu.runtime.tensor import BoolArray
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntKind,
    Operand,
    Operator,
    Out,
    Plan,
    between,
    direct,
    nothing,
    numbers,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.image.resampling import cubic_weight
from aclnnop.image.sampling import Tap, flattened, linear_taps, nearest_taps, sampled, slopes, spread, tap
from aclnnop.image.upsampling import CHANNELS_LAST


class Interpolation(enum.IntEnum):
    """What a sample is made of."""

    BILINEAR = 0
    NEAREST = 1
    BICUBIC = 2


class Simple(enum.IntEnum):
    """The interpolations of volumes, and those with gradients."""

    BILINEAR = 0
    NEAREST = 1


class Padding(enum.IntEnum):
    """What lies outside an image."""

    ZEROS = 0
    BORDER = 1
    REFLECTION = 2


FLOATS = (FLOAT, FLOAT16, DOUBLE, BF16)
VolumeIn = Annotated[Operand, In(*FLOATS, rank=5)]
VolumeOut = Annotated[Operand, Out(*FLOATS, rank=5)]
InterpolationMode = Annotated[int, IntKind(choices=Interpolation)]
SimpleMode = Annotated[int, IntKind(choices=Simple)]
PaddingMode = Annotated[int, IntKind(choices=Padding)]


def channels_last(image: Operand, grid: Operand, result: Operand) -> bool:
    """Whether a format has channels last, and the shapes agree with it."""
    shape = (*grid.shape[:-1], image.shape[-1])
    return image.rank == 5 and CHANNELS_LAST.get(image.view.format) == 5 and result.shape == shape


def check_grid(image: Operand, grid: Operand, result: Operand) -> bool:
    """161002 for an image, a grid and samples that do not belong together; else whether channels are last."""
    same_dtype(image, grid, result)
    axes = image.rank - 2
    last = channels_last(image, grid, result)
    lengths = image.shape[1:-1] if last else image.shape[2:]
    require(all(lengths), f"{image.name} has shape {list(image.shape)}, expected elements along its last {axes} dimensions")
    require(grid.shape[0] == image.shape[0], f"{grid.name} has shape {list(grid.shape)}, expected as many samples as {image.name}")
    require(grid.shape[-1] == axes, f"{grid.name} has shape {list(grid.shape)}, expected {axes} as its last dimension")
    if not last:
        shape_is(result, (*image.shape[:2], *grid.shape[1:-1]), f"samples and channels of {image.name}, and {grid.name}")
    return last


def sample(image: Operand, grid: Operand, out: Operand, **modes: Any) -> Plan:
    """A sample for each position of the grid."""
    last = check_grid(image, grid, out)
    return nothing() if 0 in out.shape else direct(sampling, reads=(image, grid), writes=(out,), scratch={}, last=last, **modes)


def sample_gradient(
    grad: Operand, image: Operand, grid: Operand, mask: BoolArray, image_grad: Operand, grid_grad: Operand, **modes: Any
) -> Plan:
    """The gradients of image and grid, as far as the mask asks for them."""
    last = check_grid(image, grid, grad)
    require(len(mask) == 2, f"outputMask has {len(mask)} values, expected 2")
    same_dtype(image, image_grad, grid_grad)
    same_shape(image, image_grad)
    same_shape(grid, grid_grad)
    wanted = [out if asked and 0 not in out.shape else None for out, asked in zip((image_grad, grid_grad), mask.values, strict=True)]
    if not any(wanted):
        return nothing()
    return direct(gradients, reads=(grad, image, grid), writes=wanted, scratch={}, last=last, **modes)


# What kernels do


def unnormalised(grid: Array, length: int, aligned: bool) -> tuple[Array, float]:
    """Positions in elements, and how fast they grow."""
    if aligned:
        return (grid + 1) / 2 * (length - 1), (length - 1) / 2
    return ((grid + 1) * length - 1) / 2, length / 2


def bordered(position: Array, length: int) -> tuple[Array, Array]:
    """Positions within the image, NaN at its beginning, and their slope: 0 where they were not."""
    with np.errstate(invalid="ignore"):
        slope = (position > 0) & (position < length - 1)
    return np.fmin(np.fmax(position, 0), length - 1).astype(position.dtype), slope.astype(np.float64)


def reflected(position: Array, length: int, aligned: bool) -> tuple[Array, Array]:
    """Positions thrown back at the centres of the first and last elements, or at their outer edges, and their slope."""
    low, span = (0.0, length - 1) if aligned else (-0.5, length)
    if span == 0:
        return np.zeros_like(position), np.zeros(position.shape)
    with np.errstate(invalid="ignore"):
        distance = np.abs(position - position.dtype.type(low))
        rest, turns = np.fmod(distance, span), np.floor(distance / span)
        even = turns % 2 == 0
        found = np.where(even, rest, span - rest).astype(position.dtype) + position.dtype.type(low)
        sign = np.where(position < low, -1.0, 1.0) * np.where(even, 1.0, -1.0)
    inner, slope = bordered(found, length)
    return inner, slope * sign


PADDED: dict[Padding, Callable[[Array, int, bool], tuple[Array, Array]]] = {
    Padding.ZEROS: lambda position, length, aligned: (position, np.ones(position.shape)),
    Padding.BORDER: lambda position, length, aligned: bordered(position, length),
    Padding.REFLECTION: reflected,
}


def taps(grid: Array, length: int, interpolation: int, padding: int, aligned: bool) -> tuple[list[Tap], Array]:
    """The taps along one axis, and the derivative of positions by the grid."""
    position, growth = unnormalised(grid, length, aligned)
    if interpolation == Interpolation.BICUBIC:
        return _cubic_taps(position, length, padding, aligned), np.zeros(position.shape)
    inner, slope = PADDED[Padding(padding)](position, length, aligned)
    neighbours = linear_taps if interpolation == Interpolation.BILINEAR else nearest_taps
    return neighbours(inner, length), slope * growth


def _cubic_taps(position: Array, length: int, padding: int, aligned: bool) -> list[Tap]:
    """Four neighbours, each of them with the padding of its own."""
    with np.errstate(invalid="ignore"):
        before = np.floor(position)
        behind = position - before
    found = []
    for number, distance in enumerate((behind + 1, behind, 1 - behind, 2 - behind), -1):
        place, _ = PADDED[Padding(padding)](before + number, length, aligned)
        found.append(tap(np.trunc(place), cubic_weight(distance, -0.75), 0 * distance, length))
    return found


def _axes(image: Array, grid: Array, interpolation: int, padding: int, aligned: bool) -> tuple[list[list[Tap]], list[Array]]:
    """For each axis of images taps and slopes; a grid has the last axis first."""
    real = np.float64 if grid.dtype == np.float64 else np.float32
    points = grid.reshape(grid.shape[0], -1, grid.shape[-1]).astype(real)
    lengths = image.shape[2:]
    found = [taps(points[..., len(lengths) - 1 - axis], length, interpolation, padding, aligned) for axis, length in enumerate(lengths)]
    return [one for one, _ in found], [slope for _, slope in found]


def channels_second(image: Array, last: bool) -> Array:
    """A view with channels behind the samples."""
    return np.moveaxis(image, -1, 1) if last else image


def sampling(image: Array, grid: Array, out: Array, *, last: bool, interpolation: int, padding: int, aligned: bool) -> None:
    """In float64, rounded once."""
    source, target = channels_second(image, last), channels_second(out, last)
    axes, _ = _axes(source, grid, interpolation, padding, aligned)
    target[...] = sampled(flattened(source), axes, source.shape[2:]).reshape(target.shape)


def gradients(
    grad: Array,
    image: Array,
    grid: Array,
    image_grad: Array | None,
    grid_grad: Array | None,
    *,
    last: bool,
    interpolation: int,
    padding: int,
    aligned: bool,
) -> None:
    """In float64, rounded once; a null output is not asked for."""
    source = channels_second(image, last)
    lengths = source.shape[2:]
    axes, growth = _axes(source, grid, interpolation, padding, aligned)
    given = flattened(channels_second(grad, last)).astype(np.float64)
    if image_grad is not None:
        channels_second(image_grad, last)[...] = spread(given, axes, lengths).reshape(source.shape)
    if grid_grad is not None:
        found = slopes(given, flattened(source), axes, lengths)
        for axis, (slope, factor) in enumerate(zip(found, growth, strict=True)):
            grid_grad[..., len(lengths) - 1 - axis] = (slope * factor).reshape(grid.shape[:-1])


EXAMPLES = (
    (FLOAT, 0, 0, False),
    (FLOAT16, 1, 1, True),
    (FLOAT, 0, 2, True),
    (FLOAT16, 0, 1, False),
)
"""A type, interpolation, padding and alignCorners."""


def grid_examples(operator: Operator, axes: int, modes: Sequence[tuple[DType, int, int, bool]] = EXAMPLES) -> Iterator[Example]:
    """Samples with positions outside the image."""
    for turn, (dtype, interpolation, padding, aligned) in enumerate(modes):
        image, grid = (2, 3, *(4, 5, 3)[:axes]), (2, *(3, 2, 4)[:axes], axes)
        values = {
            **dict.fromkeys(("input", "inputGrad"), numbers(image, dtype, turn)),
            **dict.fromkeys(("grid", "gridGrad"), between(-1.5, 1.5, grid, dtype, turn)),
            **dict.fromkeys(("gradOutput", "out"), numbers((2, 3, *grid[1:-1]), dtype, turn + 1)),
            "interpolationMode": interpolation,
            "paddingMode": padding,
            "alignCorners": aligned,
            "outputMask": [True, True],
        }
        yield {name: values[name] for name in operator.names}
