"""Deformable attention: each query takes weighted samples of several images, at places of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Example, Operand, Operator, between, numbers, require, same_dtype, shape_is
from aclnnop.image.sampling import Tap, corners, linear_taps, sampled, slopes, spread


def check_attention(
    value: Operand, spatialShape: Operand, levelStartIndex: Operand, location: Operand, attnWeight: Operand, result: Operand
) -> None:
    """161002 for tensors that do not belong together."""
    same_dtype(value, location, attnWeight, result)
    samples, _, heads, channels = value.shape
    levels = spatialShape.shape[0]
    shape_is(spatialShape, (levels, 2), "height and width of each level")
    shape_is(levelStartIndex, (levels,), "one for each level")
    queries, points = location.shape[1], location.shape[4]
    shape_is(location, (samples, queries, heads, levels, points, 2), "samples, queries, heads, levels, points and two coordinates")
    shape_is(attnWeight, location.shape[:-1], "one for each point")
    shape_is(result, (samples, queries, heads * channels), "samples, queries, and heads by channels")


Limits = dict[str, tuple[str, Callable[[int], bool]]]
"""For each count, what it has to be, in words and as a function."""
COMMON: Limits = {
    "channels": ("a multiple of 8, at most 256", lambda count: count % 8 == 0 and count <= 256),
    "queries": ("at most 499999", lambda count: count < 500000),
    "levels": ("at most 16", lambda count: count <= 16),
    "heads": ("at most 16", lambda count: count <= 16),
    "points": ("at most 16", lambda count: count <= 16),
}


def check_limits(value: Operand, location: Operand, limits: Limits) -> None:
    """161002 for counts that a product does not have."""
    _, queries, heads, levels, points, _ = location.shape
    counts = {"channels": value.shape[3], "queries": queries, "levels": levels, "heads": heads, "points": points}
    for name, (rule, holds) in limits.items():
        require(holds(counts[name]), f"location and value have {counts[name]} {name}, expected {rule} on {soc.current().name}")


Level = tuple[int, int, tuple[int, int], list[list[Tap]]]
"""The number of an image, where its elements begin, its lengths, and the taps along both axes."""


def levels_of(value: Array, shapes: Array, starts: Array, location: Array, names: tuple[str, str]) -> list[Level]:
    """Images that points lie in, checked before anything is written; taps are for (sample and head, query and point).

    An image may be larger than what there is of it, as in the page's own program, as long as no point lies in the part that is missing.
    """
    found: list[Level] = []
    for number, ((high, wide), start) in enumerate(zip(shapes.tolist(), starts.tolist(), strict=True)):
        where = np.moveaxis(location[:, :, :, number].astype(np.float32), 2, 1).reshape(value.shape[0] * value.shape[2], -1, 2)
        positions = [where[..., 1 - axis] * np.float32(length) - np.float32(0.5) for axis, length in enumerate((high, wide))]
        taps = [linear_taps(position, length) for position, length in zip(positions, (high, wide), strict=True)]
        last = max(int(np.where(inside, place, -1).max(initial=-1)) for place, inside, _ in corners(taps, (high, wide)))
        if min(high, wide, start) < 0 or start + last >= value.shape[1]:
            text = f"{names[1]}[{number}] is {start} with {names[0]}[{number}] of {high} by {wide} elements"
            raise DeviceFault(f"{text}, expected points among {value.shape[1]} elements")
        if last >= 0:
            found.append((number, start, (high, wide), taps))
    return found


def heads_first(array: Array) -> Array:
    """(sample, place, head, ...) as (sample and head, place, ...)."""
    heads_first = np.moveaxis(array, 2, 1)
    return heads_first.reshape(-1, *heads_first.shape[2:])


def images_of(value: Array, start: int, lengths: tuple[int, int]) -> Array:
    """(sample and head, channel, element) of one level."""
    return np.swapaxes(heads_first(value[:, start : start + lengths[0] * lengths[1]]), 1, 2)


def attended(value: Array, shapes: Array, starts: Array, location: Array, weight: Array, out: Array, *, names: tuple[str, str]) -> None:
    """In float64, rounded once."""
    samples, queries, heads = location.shape[:3]
    total = np.zeros((samples * heads, value.shape[3], queries))
    weights = heads_first(weight).astype(np.float64)
    for number, start, lengths, taps in levels_of(value, shapes, starts, location, names):
        found = sampled(images_of(value, start, lengths), taps, lengths).reshape(*total.shape, -1)
        total += np.einsum("bcqp,bqp->bcq", found, weights[:, :, number])
    out[...] = np.moveaxis(total.reshape(samples, heads, -1, queries), 3, 1).reshape(out.shape)


def gradients(
    value: Array,
    shapes: Array,
    starts: Array,
    location: Array,
    weight: Array,
    grad: Array,
    value_grad: Array,
    location_grad: Array,
    weight_grad: Array,
    *,
    names: tuple[str, str],
) -> None:
    """The gradients of values, places and weights, in float64, rounded once."""
    samples, queries, heads = location.shape[:3]
    points = location.shape[4]
    levels = levels_of(value, shapes, starts, location, names)
    given = np.swapaxes(heads_first(grad.reshape(samples, queries, heads, -1).astype(np.float64)), 1, 2)
    each = np.broadcast_to(given[..., None], (*given.shape, points)).reshape(*given.shape[:2], -1)
    weights = heads_first(weight).astype(np.float64)
    values, places, shares = np.zeros(value.shape), np.zeros(location.shape), np.zeros(weight.shape)
    for number, start, lengths, taps in levels:
        images = images_of(value, start, lengths)
        found = (sampled(images, taps, lengths) * each).sum(axis=1)
        shares[:, :, :, number] = np.moveaxis(found.reshape(samples, heads, queries, points), 1, 2)
        weighted = each * weights[:, :, number].reshape(weights.shape[0], 1, -1)
        back = spread(weighted, taps, lengths, value.shape[1] - start).reshape(samples, heads, value.shape[3], -1)
        values[:, start : start + lengths[0] * lengths[1]] += np.moveaxis(back, 3, 1)
        for axis, slope in enumerate(slopes(weighted, images, taps, lengths)):
            moved = np.moveaxis((slope * lengths[axis]).reshape(samples, heads, queries, points), 1, 2)
            places[:, :, :, number, :, 1 - axis] = moved
    value_grad[...], location_grad[...], weight_grad[...] = values, places, shares


def attention_examples(operator: Operator) -> Iterator[Example]:
    """Two levels, with places outside."""
    for dtype, index in ((FLOAT, INT32), (FLOAT16, INT64), (BF16, INT32)):
        value, location, weight = (1, 10, 2, 32), (1, 32, 2, 2, 4, 2), (1, 32, 2, 2, 4)
        values = {
            **dict.fromkeys(("value", "gradValue"), numbers(value, dtype, 1)),
            "spatialShape": np.array([[2, 3], [2, 2]], index.numpy),
            "levelStartIndex": np.array([0, 6], index.numpy),
            **dict.fromkeys(("location", "gradLocation"), between(-0.2, 1.2, location, dtype, 2)),
            **dict.fromkeys(("attnWeight", "gradAttnWeight"), between(0, 1, weight, dtype, 3)),
            **dict.fromkeys(("output", "gradOutput"), numbers((1, 32, 64), dtype, 4)),
        }
        yield {name: values[name] for name in operator.names}
