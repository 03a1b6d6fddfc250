"""Attention in blocks: of each block of queries the running maximum, sum and weighted values, which every block of keys adds to."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from acl_emu.engine import apply
from acl_emu.engine.casting import cast
from acl_emu.engine.matmul import matmul
from acl_emu.spec import Array
from aclnnop.attention.scores import Task, along_features

BLOCK_ELEMENTS = 1 << 19
"""About how many scores a block has."""
BLOCK_ROWS, BLOCK_COLUMNS = 256, 512
SHARED_COLUMNS = 64
LOWEST = np.finfo(np.float32).min
"""The maximum of a query that sees no key."""

Finish = Callable[[Array, Array, Array, slice], None]
"""Makes a block of the output of weighted values and their sums; it belongs to some heads of queries."""


class Blocks(NamedTuple):
    """The size of blocks: heads of keys, queries of each head, keys."""

    heads: int
    rows: int
    columns: int


def blocks_for(key_heads: int, group: int, queries: int, keys: int) -> Blocks:
    """Blocks of about the same number of scores, whatever the lengths."""
    rows = max(1, min(queries, BLOCK_ROWS // group))
    columns = BLOCK_COLUMNS * max(1, BLOCK_ELEMENTS // (BLOCK_COLUMNS * group * rows * max(key_heads, 1)))
    columns = min(columns, rounded_up(max(keys, 1)))
    return Blocks(max(1, min(key_heads, BLOCK_ELEMENTS // (group * rows * columns))), rows, columns)


def rounded_up(columns: int) -> int:
    """A number of columns that many blocks have: sequences that grow by a key at a time then share what was found out about a block."""
    return -(-columns // SHARED_COLUMNS) * SHARED_COLUMNS


def spans(start: int, stop: int, width: int) -> Iterator[slice]:
    """Parts of a range; they begin at multiples of the width."""
    for first in range(start - start % width, stop, width):
        yield slice(max(first, start), min(first + width, stop))


def scratch_for(blocks: Blocks, group: int, features: int, values: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """What ``attend`` needs."""
    lines = blocks.heads * group * blocks.rows
    return {
        "products": ((lines * blocks.columns,), np.float32),
        "weights": ((lines * blocks.columns,), np.float32),
        "queries": ((lines * features,), np.float32),
        "result": ((lines * values,), np.float32),
        "state": ((5, lines), np.float32),
    }


class Scratch(NamedTuple):
    """Scratch buffers, flat: blocks at the ends are smaller."""

    products: Array
    weights: Array
    queries: Array
    result: Array
    state: Array


def part(buffer: Array, *shape: int) -> Array:
    """The first elements of a buffer, in a shape."""
    return buffer[: int(np.prod(shape))].reshape(shape)


def attend(task: Task, out: Array, largest: Array, total: Array, blocks: Blocks, scratch: Scratch, finish: Finish) -> None:
    """Write the attention of a sequence to ``out``, and the maximum of each query's scores and the sum of exponentials below it."""
    for heads in spans(0, task.key_heads, blocks.heads):
        for rows in spans(0, task.queries, blocks.rows):
            result, sums, top = accumulated(task, heads, rows, blocks.columns, out.shape[-1], scratch)
            own = task.own(heads)
            finish(result, sums, out[own, rows].reshape(result.shape), own)
            largest[own, rows] = np.maximum(top, LOWEST).reshape(-1, rows.stop - rows.start)
            total[own, rows] = sums.reshape(-1, rows.stop - rows.start)


def accumulated(task: Task, heads: slice, rows: slice, width: int, values: int, scratch: Scratch) -> tuple[Array, Array, Array]:
    """Of a block of queries: values weighted by exponentials, the sum of these, and the maximum that was subtracted."""
    count, lines = heads.stop - heads.start, rows.stop - rows.start
    shape = count, task.group, lines
    queries = queries_of(task, heads, rows, scratch.queries)
    result = part(scratch.result, *shape, values)
    result[...] = 0
    top, higher, sums, below, shrink = (part(line, *shape, 1) for line in scratch.state)
    top[...], sums[...] = -np.inf, 0
    if task.sink is not None:
        top[...], sums[...] = task.sink[task.own(heads)].reshape(count, task.group, 1, 1), 1
    seen = task.visible.columns(rows, task.keys)
    for columns in spans(seen.start, seen.stop, width):
        wide = columns.stop - columns.start
        hidden = task.hidden(heads, rows, columns)
        plain = hidden is None and task.shift is None and task.dropped is None and task.scale > 0
        padded = rounded_up(wide) if plain else wide
        products, weights = (part(buffer, *shape, padded) for buffer in (scratch.products, scratch.weights))
        products[..., wide:] = -np.inf
        matmul(stacked(queries), task.key(heads, columns).swapaxes(1, 2), stacked(products)[..., :wide])
        scale = task.shifted(products, heads, rows, columns)
        step, given = (weighed, (products, top)) if hidden is None else (weighed_visible, (products, top, hidden))
        apply(step, given, (weights, below, higher, shrink), scale=scale)
        kept = task.kept(heads, rows, columns)
        if kept is not None:
            weights *= kept
        if task.weight_scale is not None:
            apply(as_int8, (weights,), (weights,), scale=task.weight_scale)
        apply(scaled, (result, shrink), (result,))
        matmul(stacked(weights)[..., :wide], task.value(heads, columns), stacked(result), add=True)
        sums *= shrink
        sums += below
        top, higher = higher, top
    return result, sums, top


def queries_of(task: Task, heads: slice, rows: slice, buffer: Array) -> Array:
    """A block of queries in FLOAT: heads of keys, groups, positions, features."""
    block = part(buffer, heads.stop - heads.start, task.group, rows.stop - rows.start, task.features)
    for source, target in along_features(task.query, block):
        cast(source[task.own(heads), rows].reshape(target.shape), target)
    return block


def stacked(block: Array) -> Array:
    """The heads of a group one below the other."""
    return block.reshape(block.shape[0], -1, block.shape[3])


def weighed(products: Array, top: Array, *, scale: float) -> tuple[Array, Array, Array, Array]:
    """Exponentials below the maximum so far, their sum, that maximum, and what exponentials below the one before shrink by."""
    return below_maximum(products * scale, top)


def weighed_visible(products: Array, top: Array, hidden: Array, *, scale: float) -> tuple[Array, Array, Array, Array]:
    """The same without what is hidden."""
    return below_maximum(np.where(hidden, -np.inf, products * scale), top)


def below_maximum(scores: Array, top: Array) -> tuple[Array, Array, Array, Array]:
    """Exponentials of scores; a row that has only -inf so far has a sum of 0."""
    higher = np.maximum(top, scores.max(axis=-1, keepdims=True))
    base = np.where(higher == -np.inf, 0, higher)
    weights = np.exp(scores - base)
    return weights, weights.sum(axis=-1, keepdims=True), higher, np.exp(top - base)


def scaled(values: Array, factor: Array) -> Array:
    """Each row times its factor."""
    return values * factor


def as_int8(weights: Array, *, scale: float) -> Array:
    """Rounded to the integers that INT8 holds."""
    return np.minimum(np.maximum(np.rint(weights * scale), -128), 127)


def divided(result: Array, sums: Array, out: Array, _: slice) -> None:
    """The weighted mean; 0 where a query sees nothing."""
    apply(mean, (result, sums), (out,))


def mean(result: Array, sums: Array) -> Array:
    """Weighted values by the sum of weights."""
    return np.where(sums == 0, 0, result / sums)
