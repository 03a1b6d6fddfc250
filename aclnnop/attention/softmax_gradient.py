"""The gradient of attention in blocks: weights are computed again from the maximum and the sum that the forward pass left."""

from typing import Any, NamedTuple

import numpy as np

from acl_emu.engine import apply
from acl_emu.engine.casting import cast
from acl_emu.engine.matmul import matmul
from acl_emu.spec import Array
from aclnnop.attention.online_softmax import Blocks, part, queries_of, spans, stacked
from aclnnop.attention.scores import Task, along_features


class Forward(NamedTuple):
    """What the forward pass left, by head and position."""

    output: Array
    largest: Array
    total: Array


class Gradients(NamedTuple):
    """Where the gradients of a sequence go: heads, positions, features."""

    query: tuple[Array, ...]
    key: tuple[Array, ...]
    value: Array


class Scratch(NamedTuple):
    """Scratch buffers, flat."""

    products: Array
    weights: Array
    queries: Array
    slopes: Array
    output: Array
    query_sum: Array
    key_sum: Array
    value_sum: Array
    state: Array


def scratch_for(blocks: Blocks, group: int, keys: int, features: int, values: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """What ``propagate`` needs."""
    lines = blocks.heads * group * blocks.rows
    sizes = (
        *(lines * blocks.columns,) * 2,
        lines * features,
        *(lines * values,) * 2,
        lines * features,
        blocks.heads * keys * features,
        blocks.heads * keys * values,
    )
    flat = {name: ((size,), np.float32) for name, size in zip(Scratch._fields, sizes, strict=False)}
    return {**flat, "state": ((3, lines), np.float32)}


def propagate(task: Task, slope: Array, forward: Forward, out: Gradients, blocks: Blocks, scratch: Scratch) -> None:
    """Write the gradients of a sequence; ``slope`` is that of its output."""
    for heads in spans(0, task.key_heads, blocks.heads):
        count = heads.stop - heads.start
        key_sum = part(scratch.key_sum, count, task.keys, task.features)
        value_sum = part(scratch.value_sum, count, task.keys, out.value.shape[2])
        key_sum[...], value_sum[...] = 0, 0
        for rows in spans(0, task.queries, blocks.rows):
            query_sum = through_rows(task, slope, forward, (key_sum, value_sum), heads, rows, blocks.columns, scratch)
            for target, found in along_features(out.query, query_sum):
                cast(found, target[task.own(heads), rows].reshape(found.shape))
        for target, found in along_features(out.key, key_sum):
            cast(found, target[heads])
        cast(value_sum, out.value[heads])


def through_rows(
    task: Task, slope: Array, forward: Forward, sums: tuple[Array, Array], heads: slice, rows: slice, width: int, scratch: Scratch
) -> Array:
    """Add what a block of queries gives to the gradients of keys and values; returns that of the queries."""
    own, key_sum, value_sum = task.own(heads), *sums
    shape = heads.stop - heads.start, task.group, rows.stop - rows.start
    queries = queries_of(task, heads, rows, scratch.queries)
    slopes, output = (part(buffer, *shape, slope.shape[2]) for buffer in (scratch.slopes, scratch.output))
    for source, target in ((slope, slopes), (forward.output, output)):
        cast(source[own, rows].reshape(target.shape), target)
    largest, total, shared = (part(line, *shape, 1) for line in scratch.state)
    largest[...] = forward.largest[own, rows].reshape(largest.shape)
    total[...] = forward.total[own, rows].reshape(total.shape)
    apply(dot, (slopes, output), (shared,))
    query_sum = part(scratch.query_sum, *queries.shape)
    query_sum[...] = 0
    seen = task.visible.columns(rows, task.keys)
    for columns in spans(seen.start, seen.stop, width):
        wide = columns.stop - columns.start
        products, weights = (part(buffer, *shape, wide) for buffer in (scratch.products, scratch.weights))
        keys, values = task.key(heads, columns), task.value(heads, columns)
        matmul(stacked(queries), keys.swapaxes(1, 2), stacked(products))
        scale = task.shifted(products, heads, rows, columns)
        hidden = task.hidden(heads, rows, columns)
        step, given = (again, (products, largest, total)) if hidden is None else (again_visible, (products, largest, total, hidden))
        apply(step, given, (weights,), scale=scale)
        kept = task.kept(heads, rows, columns)
        applied = weights if kept is None else weights * kept
        matmul(stacked(applied).swapaxes(1, 2), stacked(slopes), value_sum[:, columns], add=True)
        matmul(stacked(slopes), values.swapaxes(1, 2), stacked(products))
        if kept is not None:
            products *= kept
        apply(through_softmax, (weights, products, shared), (weights,), scale=task.scale)
        matmul(stacked(weights), keys, stacked(query_sum), add=True)
        matmul(stacked(weights).swapaxes(1, 2), stacked(queries), key_sum[:, columns], add=True)
    return query_sum


def dot(slopes: Array, output: Array) -> Array:
    """What all weights of a row share: its slope along itself."""
    shared: Array = (slopes * output).sum(axis=-1, keepdims=True)
    return shared


def again(products: Array, largest: Array, total: Array, *, scale: float) -> Array:
    """The weights of the forward pass."""
    weights: Array = np.exp(products * scale - largest) / total
    return weights


def again_visible(products: Array, largest: Array, total: Array, hidden: Array, *, scale: float) -> Array:
    """The same, 0 where a key is hidden."""
    return np.where(hidden, 0, again(products, largest, total, scale=scale))


def through_softmax(weights: Array, slopes: Array, shared: Array, *, scale: float) -> Array:
    """The slopes of the products."""
    found: Array = weights * (slopes - shared) * scale
    return found
