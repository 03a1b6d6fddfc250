"""Convolutions by their definition, in float64: every place of the kernel, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Geometry(NamedTuple):
    """How a kernel moves."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int = 1

    def pads(self, axes: int) -> list[tuple[int, int]]:
        if len(self.padding) == axes:
            return [(value, value) for value in self.padding]
        return [(self.padding[2 * i], self.padding[2 * i + 1]) for i in range(axes)]

    def lengths(self, image: Sequence[int], kernel: Sequence[int]) -> tuple[int, ...]:
        pads = self.pads(len(kernel))
        return tuple((image[i] + sum(pads[i]) - self.dilation[i] * (kernel[i] - 1) - 1) // self.stride[i] + 1 for i in range(len(kernel)))

    def back(self, image: Sequence[int], kernel: Sequence[int], extra: Sequence[int]) -> tuple[int, ...]:
        pads = self.pads(len(kernel))
        return tuple(
            (image[i] - 1) * self.stride[i] - sum(pads[i]) + self.dilation[i] * (kernel[i] - 1) + extra[i] + 1 for i in range(len(kernel))
        )

    def windows(self, kernel: Sequence[int], places: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """For every place in the kernel, what it meets in padded images."""
        for tap in product(*map(range, kernel)):
            yield (
                tap,
                tuple(
                    slice(tap[i] * self.dilation[i], tap[i] * self.dilation[i] + places[i] * self.stride[i], self.stride[i])
                    for i in range(len(kernel))
                ),
            )


def padded(x: Array, geometry: Geometry) -> Array:
    axes = x.ndim - 2
    extra = [(before, after + max(geometry.stride)) for before, after in geometry.pads(axes)]  # slices may end behind the last place
    return np.pad(x, ((0, 0), (0, 0), *extra))


def forward(x: Array, weight: Array, geometry: Geometry) -> Array:
    kernel = weight.shape[2:]
    places = geometry.lengths(x.shape[2:], kernel)
    images, groups = padded(x, geometry), geometry.groups
    out = np.zeros((len(x), len(weight), *places))
    per, own = len(weight) // groups, weight.shape[1]
    for tap, meets in geometry.windows(kernel, places):
        window = images[(slice(None), slice(None), *meets)]
        for group in range(groups):
            part = weight[group * per : (group + 1) * per][(slice(None), slice(None), *tap)]
            out[:, group * per : (group + 1) * per] += np.einsum("oc,nc...->no...", part, window[:, group * own : (group + 1) * own])
    return out


def spread(y: Array, weight: Array, image: Sequence[int], geometry: Geometry) -> Array:
    """The gradient of ``forward`` with respect to images of these lengths, which is the transposed convolution."""
    kernel, groups = weight.shape[2:], geometry.groups
    per, own = len(weight) // groups, weight.shape[1]
    images = padded(np.zeros((len(y), own * groups, *image)), geometry)
    for tap, meets in geometry.windows(kernel, y.shape[2:]):
        target = images[(slice(None), slice(None), *meets)]
        for group in range(groups):
            part = weight[group * per : (group + 1) * per][(slice(None), slice(None), *tap)]
            target[:, group * own : (group + 1) * own] += np.einsum("oc,no...->nc...", part, y[:, group * per : (group + 1) * per])
    pads = geometry.pads(len(kernel))
    return images[(slice(None), slice(None), *(slice(pads[i][0], pads[i][0] + image[i]) for i in range(len(kernel))))]


def weight_gradient(x: Array, y: Array, shape: Sequence[int], geometry: Geometry) -> Array:
    images, groups = padded(x, geometry), geometry.groups
    out = np.zeros(shape)
    per, own = shape[0] // groups, shape[1]
    for tap, meets in geometry.windows(shape[2:], y.shape[2:]):
        window = images[(slice(None), slice(None), *meets)]
        for group in range(groups):
            some = slice(group * per, (group + 1) * per)
            axes = [0, *range(2, x.ndim)]
            out[(some, slice(None), *tap)] = np.tensordot(y[:, some], window[:, group * own : (group + 1) * own], (axes, axes))
    return out
