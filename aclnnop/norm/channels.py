"""Statistics of channels: what batch normalisation and its parts share. A channel is one index of an axis, mostly of the second one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT
from acl_emu.runtime.tensor import BoolArray
from acl_emu.spec import (
    Array,
    Example,
    In,
    InOut,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    nothing,
    numbers,
    rank_in,
    require,
    same_dtype,
    same_shape,
    shape_is,
    total,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.rows import Axes, centred, masked, scaled, selected, variance
from aclnnop.norm.views import along

Batch = Annotated[Operand, In(*FLOATS, rank=(2, 8))]
BatchOut = Annotated[Operand, Out(*FLOATS, rank=(2, 8))]
OptionalBatchOut = Annotated[Operand | None, Out(*FLOATS, rank=(2, 8), optional=True)]
Channel = Annotated[Operand, In(*FLOATS, rank=1)]
OptionalChannel = Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)]
Running = Annotated[Operand | None, InOut(*FLOATS, rank=1, optional=True, const=False)]
ChannelOut = Annotated[Operand, Out(*FLOATS, rank=1)]
OptionalChannelOut = Annotated[Operand | None, Out(*FLOATS, rank=1, optional=True)]

CHANNELS_LAST = {c.ACL_FORMAT_NHWC: 4, c.ACL_FORMAT_NDHWC: 5}
"""Formats in which channels are the last axis, and how many axes they have."""


def channel_axis(x: Operand) -> int:
    """The second axis; on 950 the last one of formats that say so."""
    last = soc.current().product is Product.A950 and CHANNELS_LAST.get(x.view.format) == x.rank
    return x.rank - 1 if last else 1


def other_axes(x: Operand, axis: int) -> Axes:
    """All but that of the channels."""
    return tuple(one for one in range(x.rank) if one != axis)


def one_for_each_channel(x: Operand, axis: int, *operands: Operand | None) -> list[Operand | None]:
    """Rows with an element for each channel of ``x``, as they broadcast along it; null ones stay null."""
    for operand in filter(None, operands):
        shape_is(operand, (x.shape[axis],), f"one element for each channel of {x.name}")
    return [operand and along(operand, x.rank, axis) for operand in operands]


def some_channels(x: Operand) -> None:
    """There is at least one channel."""
    require(x.shape[1] > 0, f"{x.name} has shape {list(x.shape)}, expected at least one channel")


def batch_norm(
    x: Operand,
    weight: Operand | None,
    bias: Operand | None,
    running: tuple[Operand | None, Operand | None],
    output: Operand,
    saved: tuple[Operand, Operand],
    *,
    training: bool,
    momentum: float,
    eps: float,
) -> Plan:
    """Normalise by the batch's statistics, which also update the running ones; or, beside training, by the running ones."""
    same_dtype(x, output)
    same_shape(x, output)
    axis = channel_axis(x)
    weight, bias, mean, var = one_for_each_channel(x, axis, weight, bias, *running)
    if not training:
        for operand in saved:
            rank_in(operand, 1)
        if not x.size:
            return nothing()
        return mapped(by_running, reads=(x, weight, bias, mean, var), writes=(output,), dtype=x.dtype, eps=eps)
    save = [operand for operand in one_for_each_channel(x, axis, *saved) if operand is not None]
    if not x.size:
        return nothing()
    axes = other_axes(x, axis)
    # Objects of their own: what is written as it is computed is still read in FLOAT.
    updated = [operand for operand in one_for_each_channel(x, axis, *running) if operand is not None]
    return mapped(
        by_batch,
        reads=(x, weight, bias, mean, var),
        writes=(output, *save, *updated),
        dtype=x.dtype,
        raw=(*save, *updated),
        axes=axes,
        count=math.prod(x.shape[one] for one in axes),
        momentum=momentum,
        eps=eps,
        inverse=saves_inverse(),
        wanted=(True, True, True, mean is not None, var is not None),
    )


def saves_inverse() -> bool:
    """What saveInvstd holds: on 950 inverse standard deviations, on the others variances."""
    return soc.current().product is Product.A950


def by_running(x: Array, weight: Array | None, bias: Array | None, mean: Array | None, var: Array | None, *, eps: float) -> Array:
    """With statistics that are given; what is not is 0 and 1."""
    differences = x if mean is None else x - mean
    values: Any = differences / math.sqrt(1 + eps) if var is None else differences / np.sqrt(var + eps)
    return scaled(values, weight, bias)


def by_batch(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    *,
    axes: Axes,
    count: int,
    momentum: float,
    eps: float,
    inverse: bool,
    wanted: tuple[bool, ...],
) -> tuple[Array, ...]:
    """With the statistics of the batch. The running variance moves to that of the population that the batch is a sample of."""
    differences, mean = centred(x, axes, count)
    var = variance(differences, axes, count)
    rstd = (1 / np.sqrt(var + eps)).astype(x.dtype)
    population = (var * (count / max(count - 1, 1))).astype(x.dtype)
    results = (
        scaled(differences * rstd, weight, bias),
        mean,
        rstd if inverse else var.astype(x.dtype),
        running_mean if running_mean is None else moved(running_mean, mean, momentum),
        running_var if running_var is None else moved(running_var, population, momentum),
    )
    return selected(results, wanted)


def moved(running: Array, value: Array, momentum: float) -> Array:
    """A running statistic after a batch."""
    return running * (1 - momentum) + value * momentum


def batch_norm_gradient(
    grad: Operand,
    x: Operand,
    weight: Operand | None,
    running: tuple[Operand | None, Operand | None],
    saved: tuple[Operand | None, Operand | None],
    mask: BoolArray,
    outputs: tuple[Operand | None, Operand | None, Operand | None],
    *,
    training: bool,
    eps: float,
) -> Plan:
    """The gradients that a mask asks for."""
    to_input, to_weight, to_bias = masked(mask, *outputs)
    axis = channel_axis(x)
    used, unused = (saved, running) if training else (running, saved)
    one_for_each_channel(x, axis, *(operand for operand in unused if operand is not None and operand.size))
    weight, mean, spread, *factors = one_for_each_channel(x, axis, weight, *used, to_weight, to_bias)
    same_dtype(grad, x, to_input)
    same_shape(grad, x)
    if to_input is not None:
        same_shape(grad, to_input)
    writes = [operand for operand in (to_input, *factors) if operand is not None]
    if not x.size or not writes:
        return nothing()
    axes = other_axes(x, axis)
    return mapped(
        channel_gradients,
        reads=(grad, x, weight, mean, spread),
        writes=writes,
        dtype=grad.dtype,
        raw=writes,
        axes=axes,
        count=math.prod(x.shape[one] for one in axes),
        eps=eps,
        training=training,
        inverse=training and saves_inverse(),
        wanted=tuple(operand is not None for operand in (to_input, *factors)),
    )


def channel_gradients(
    grad: Array,
    x: Array,
    weight: Array | None,
    mean: Array | None,
    spread: Array | None,
    *,
    axes: Axes,
    count: int,
    eps: float,
    training: bool,
    inverse: bool,
    wanted: tuple[bool, ...],
) -> tuple[Array, ...]:
    """The batch's statistics depend on its elements, running ones do not. What is not given is 0 and 1."""
    rstd: Any = 1 / math.sqrt(1 + eps)
    if spread is not None:
        rstd = spread if inverse else 1 / np.sqrt(spread + eps)
    unit = (x if mean is None else x - mean) * rstd
    to_weight, to_bias = total(grad * unit, axes, keepdims=True), total(grad, axes, keepdims=True)
    left = grad - to_bias / count - unit * (to_weight / count) if training else grad
    return selected((scaled(left * rstd, weight, None), to_weight, to_bias), wanted)


def channel_examples(**named: tuple[str, int]) -> Iterator[Example]:
    """Two and four axes of each type; ``named``: what a tensor is, ``x`` for the whole batch, ``c`` for channels, and its seed."""
    for dtype, shape in zip(FLOATS, ((4, 3), (2, 3, 2, 4), (2, 3, 5)), strict=True):
        shapes = {"x": shape, "c": (3,), "p": (3,)}
        yield {name: made(shapes[what], dtype if what != "f" else FLOAT, seed, what == "p") for name, (what, seed) in named.items()}


def made(shape: tuple[int, ...], dtype: Any, seed: int, positive: bool) -> Array:
    """Numbers; variances and their like are positive."""
    drawn = numbers(shape, dtype, seed)
    return np.abs(drawn) if positive else drawn
