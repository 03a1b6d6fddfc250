"""Windows over the last axes of a tensor: where they lie, and what is taken from them or given back to them.

A window of several axes is taken axis by axis: sums of sums are sums, and of the largest elements of rows the largest is taken. So work
grows with the sum of a window's lengths, not with their product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from acl_emu.runtime.tensor import IntArray, Shape
from acl_emu.spec import Array, Operand, require, shape_is


@dataclass(frozen=True)
class Axis:
    """The windows along one axis: where they begin, how many elements they have, and how far these are apart."""

    length: int
    """Of the axis."""
    starts: tuple[int, ...]
    """One for each window; below 0 in the padding."""
    ends: tuple[int, ...]
    """Behind their last elements, padding included."""
    step: int = 1
    regular: bool = True
    """Whether no two windows begin at the same place."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.starts)

    @cached_property
    def places(self) -> tuple[tuple[Array, Array], ...]:
        """For the first, second, … elements of all windows: which windows have one that is not padding, and where it lies."""
        starts, ends = np.array(self.starts), np.array(self.ends)
        found = []
        for number in range(max(1, -(-int((ends - starts).max(initial=0)) // self.step))):
            place = starts + number * self.step
            there = np.flatnonzero((place >= 0) & (place < np.minimum(ends, self.length)))
            if there.size:
                found.append((there, place[there]))
        return tuple(found)

    @cached_property
    def first_places(self) -> Array:
        """Where the first element of each window lies that is not padding."""
        starts = np.array(self.starts)
        return np.minimum(np.where(starts < 0, starts % self.step, starts), self.length - 1)

    @cached_property
    def sizes(self) -> Array:
        """How many elements windows have, without padding."""
        sizes = np.zeros(self.count, np.int64)
        for windows, _ in self.places:
            sizes[windows] += 1
        return sizes

    @cached_property
    def padded_sizes(self) -> Array:
        """The same with padding, as far as it goes."""
        return np.array([-((start - end) // self.step) for start, end in zip(self.starts, self.ends, strict=True)])


def adaptive(length: int, count: int) -> Axis:
    """Windows that share an axis out among ``count`` outputs."""
    starts = tuple(number * length // count for number in range(count))
    ends = tuple(-(-(number + 1) * length // count) for number in range(count))
    return Axis(length, starts, ends, regular=len(set(starts)) == count)


def sliding(length: int, size: int, stride: int, pads: tuple[int, int], step: int, ceil: bool) -> Axis:
    """Windows at equal distances; none begins in the padding at the end."""
    before, after = pads
    spare = length + before + after - step * (size - 1) - 1
    count = (-(-spare // stride) if ceil else spare // stride) + 1
    if ceil and (count - 1) * stride >= length + before:
        count -= 1
    starts = tuple(number * stride - before for number in range(max(count, 0)))
    ends = tuple(min(start + step * (size - 1) + 1, length + after) for start in starts)
    return Axis(length, starts, ends, step)


def per_axis(array: IntArray, name: str, count: int, *, low: int, default: Sequence[int] | None = None) -> tuple[int, ...]:
    """One number for each axis; a single one is for all, and none stands for ``default``."""
    values = array.values
    lengths = sorted({1, count} | ({0} if default is not None else set()))
    require(len(values) in lengths, f"{name} has {len(values)} values, expected {' or '.join(map(str, lengths))}")
    require(all(value >= low for value in values), f"{name} is {list(values)}, expected values of at least {low}")
    if not values and default is not None:
        return tuple(default)
    return tuple(values) if len(values) == count else tuple(values) * count


def spatial(operand: Operand, count: int) -> Shape:
    """The last axes, which windows slide along; none of them is empty."""
    lengths = operand.shape[operand.rank - count :]
    require(all(lengths), f"{operand.name} has shape {list(operand.shape)}, expected elements along its last {count} dimensions")
    return lengths


def filled(*operands: Operand, first: bool = True) -> None:
    """161002 for a dimension without elements; the first one may have none, where ``first``."""
    for operand in operands:
        which = "elements along each dimension but the first" if first else "elements along each dimension"
        require(all(operand.shape[first:]), f"{operand.name} has shape {list(operand.shape)}, expected {which}")


NAMES = ("kernelSize", "stride", "padding", "dilation")


def slide(
    self: Operand,
    count: int,
    kernel: IntArray,
    stride: IntArray,
    padding: IntArray,
    dilation: IntArray | None = None,
    *,
    ceil: bool,
    names: Sequence[str] = NAMES,
) -> tuple[Axis, ...]:
    """The windows of a pooling along the last ``count`` axes; ``names``: of the arrays."""
    sizes = per_axis(kernel, names[0], count, low=1)
    strides = per_axis(stride, names[1], count, low=1, default=sizes)
    pads = per_axis(padding, names[2], count, low=0)
    steps = per_axis(dilation, names[3], count, low=1) if dilation is not None else (1,) * count
    for size, pad in zip(sizes, pads, strict=True):
        require(pad <= size // 2, f"{names[2]} is {list(pads)}, expected at most half of {names[0]}: {list(sizes)}")
    axes = tuple(
        sliding(length, size, by, (pad, pad), step, ceil)
        for length, size, by, pad, step in zip(spatial(self, count), sizes, strides, pads, steps, strict=True)
    )
    check_windows(self, axes)
    return axes


def output_sizes(array: IntArray, count: int, name: str = "outputSize") -> tuple[int, ...]:
    """As many windows as an array says, along each axis."""
    require(len(array) == count, f"{name} has {len(array)} values, expected {count}")
    require(all(value >= 0 for value in array.values), f"{name} is {list(array.values)}, expected no negative value")
    return tuple(array.values)


def share(self: Operand, count: int, sizes: Sequence[int]) -> tuple[Axis, ...]:
    """The windows of an adaptive pooling: as many along each of the last axes as these sizes say."""
    return tuple(adaptive(length, size) for length, size in zip(spatial(self, count), sizes, strict=True))


def check_windows(self: Operand, axes: Sequence[Axis]) -> None:
    """There is at least one."""
    for axis in axes:
        require(axis.count > 0, f"{self.name} has shape {list(self.shape)}, where no window fits along an axis of length {axis.length}")


def check_results(self: Operand, axes: Sequence[Axis], *results: Operand) -> None:
    """161002 for results that do not have one element for each window."""
    shape = self.shape[: self.rank - len(axes)] + tuple(axis.count for axis in axes)
    for result in results:
        shape_is(result, shape, "one element for each window")


# What kernels do


def sums(values: Array, axes: Sequence[Axis]) -> Array:
    """The sum of each window, in float64."""
    total = values.astype(np.float64)
    first = values.ndim - len(axes)
    for number in reversed(range(len(axes))):
        lines = np.moveaxis(total, first + number, 0)
        added = np.zeros((axes[number].count, *lines.shape[1:]))
        for windows, places in axes[number].places:
            added[windows] += lines[places]
        total = np.moveaxis(added, 0, first + number)
    return total


def spread(values: Array, axes: Sequence[Axis]) -> Array:
    """What each element gets from the windows that it is in, in float64: the transpose of ``sums``."""
    total = values.astype(np.float64)
    first = values.ndim - len(axes)
    for number, axis in enumerate(axes):
        lines = np.moveaxis(total, first + number, 0)
        given = np.zeros((axis.length, *lines.shape[1:]))
        if axis.regular:
            for windows, places in axis.places:
                given[places] += lines[windows]
        else:
            for window, (start, end) in enumerate(zip(axis.starts, axis.ends, strict=True)):
                given[start:end] += lines[window]
        total = np.moveaxis(given, 0, first + number)
    return total


def largest(values: Array, axes: Sequence[Axis]) -> tuple[Array, Array]:
    """The largest element of each window and its place among all of the axes: the first one, or the last NaN."""
    first = values.ndim - len(axes)
    best, place = values, np.zeros((1,) * values.ndim, np.int64)
    below = 1
    for number in reversed(range(len(axes))):
        axis = axes[number]
        lines = np.moveaxis(best, first + number, 0)
        inner = np.moveaxis(np.broadcast_to(place, best.shape), first + number, 0)
        starts = axis.first_places
        chosen, at = lines[starts], inner[starts] + (starts * below).reshape(-1, *(1,) * (lines.ndim - 1))
        for windows, places in axis.places:
            other = lines[places]
            with np.errstate(invalid="ignore"):
                better = (other > chosen[windows]) | (other != other)
            chosen[windows] = np.where(better, other, chosen[windows])
            there = inner[places] + (places * below).reshape(-1, *(1,) * (lines.ndim - 1))
            at[windows] = np.where(better, there, at[windows])
        best, place = np.moveaxis(chosen, 0, first + number), np.moveaxis(at, 0, first + number)
        below *= axis.length
    return best, place


def planes(array: Array, count: int) -> Array:
    """One row for each channel of each sample, the last axes one behind the other."""
    return array.reshape(-1, int(np.prod(array.shape[array.ndim - count :])))
