"""Samples of images at points that data decide: the elements around a point, their weights, and the way back.

A point has taps along each axis; the samples of all axes together are the products of their weights. Weights are float32, those of DOUBLE
float64; sums are taken in float64. A tap outside the image counts for nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from acl_emu.spec import Array


class Tap(NamedTuple):
    """One of the elements along an axis that count for each point."""

    place: Array
    weight: Array
    slope: Array
    """The derivative of the weight by the position."""
    inside: Array


def tap(place: Array, weight: Array, slope: Array, length: int) -> Tap:
    """A tap at an integer, given as one of a floating-point type; NaN is outside, where weights are 0."""
    with np.errstate(invalid="ignore"):
        inside = (place >= 0) & (place < length)
    place, weight, slope = (np.where(inside, one, 0) for one in (place, weight, slope))
    return Tap(place.astype(np.int64), weight.astype(np.float64), slope.astype(np.float64), inside)


def linear_taps(position: Array, length: int) -> list[Tap]:
    """The two neighbours of each position."""
    with np.errstate(invalid="ignore"):
        before = np.floor(position)
        behind = position - before
    one = np.ones_like(behind)
    return [tap(before, 1 - behind, -one, length), tap(before + 1, behind, one, length)]


def nearest_taps(position: Array, length: int) -> list[Tap]:
    """The nearest element, of two the even one."""
    one = np.ones_like(position)
    return [tap(np.rint(position), one, 0 * one, length)]


Corner = tuple[Array, Array, tuple[Tap, ...]]
"""Of one combination of taps: where it lies among all elements of an image (0 outside), whether inside, and the taps."""


def corners(axes: Sequence[Sequence[Tap]], lengths: Sequence[int]) -> Iterator[Corner]:
    """All combinations of one tap of each axis."""
    for chosen in itertools.product(*axes):
        place = np.zeros_like(chosen[0].place)
        inside = np.ones_like(chosen[0].inside)
        for one, length in zip(chosen, lengths, strict=True):
            place = place * length + one.place
            inside = inside & one.inside
        yield place * inside, inside, chosen


def product_of(chosen: Sequence[Tap], slope: int | None = None) -> Array:
    """The weight of a corner; ``slope``: its derivative along that axis."""
    total = np.ones_like(chosen[0].weight)
    for axis, one in enumerate(chosen):
        total = total * (one.slope if axis == slope else one.weight)
    return total


def picked(images: Array, place: Array, inside: Array) -> Array:
    """One element of each channel for each point: of ``images`` (sample, channel, element) at ``place`` (sample, point)."""
    found = np.take_along_axis(images, place[:, None, :], axis=2).astype(np.float64)
    return np.where(inside[:, None, :], found, 0.0)


def sampled(images: Array, axes: Sequence[Sequence[Tap]], lengths: Sequence[int]) -> Array:
    """The samples (sample, channel, point) of ``images`` (sample, channel, element), in float64."""
    total = np.zeros((*images.shape[:2], axes[0][0].place.shape[1]))
    for place, inside, chosen in corners(axes, lengths):
        total += picked(images, place, inside) * product_of(chosen)[:, None, :]
    return total


def spread(grad: Array, axes: Sequence[Sequence[Tap]], lengths: Sequence[int], most: int | None = None) -> Array:
    """What elements get of gradients of samples (sample, channel, point): the transpose of ``sampled``; the first ``most`` of them."""
    samples, channels, _ = grad.shape
    count = math.prod(lengths) if most is None else min(math.prod(lengths), most)
    total = np.zeros(samples * channels * count)
    rows = np.arange(samples * channels).reshape(samples, channels, 1) * count
    for place, inside, chosen in corners(axes, lengths):
        there = np.broadcast_to(inside[:, None, :], grad.shape)
        index = (rows + place[:, None, :])[there]
        total += np.bincount(index, weights=(grad * product_of(chosen)[:, None, :])[there], minlength=total.size)
    return total.reshape(samples, channels, count)


def slopes(grad: Array, images: Array, axes: Sequence[Sequence[Tap]], lengths: Sequence[int]) -> list[Array]:
    """The derivative by the position along each axis (sample, point), of gradients of samples."""
    total = [np.zeros(axes[0][0].place.shape) for _ in axes]
    for place, inside, chosen in corners(axes, lengths):
        shares = (picked(images, place, inside) * grad).sum(axis=1)
        for axis, sum_ in enumerate(total):
            sum_ += shares * product_of(chosen, axis)
    return total


def flattened(images: Array) -> Array:
    """The elements of an image one behind the other."""
    return images.reshape(*images.shape[:2], -1)
