"""The kernels of attention for training: sequences of a batch, or such that follow each other, one after the other."""

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from acl_emu.spec import Array
from aclnnop.attention import softmax_gradient
from aclnnop.attention.heads import by_head
from aclnnop.attention.online_softmax import Blocks, Scratch, attend, divided
from aclnnop.attention.scores import Block, Dropped, Given, Slopes, Task
from aclnnop.attention.softmax_gradient import Forward, Gradients, propagate
from aclnnop.attention.visibility import COMPRESSED, Sparse, Visibility, diagonals, visibility


class Sequence(NamedTuple):
    """Where the queries and keys of a sequence are."""

    batch: int
    query: tuple[int, int]
    key: tuple[int, int]

    @property
    def lengths(self) -> tuple[int, int]:
        """Positions of queries and of keys."""
        return self.query[1] - self.query[0], self.key[1] - self.key[0]


class Setting(NamedTuple):
    """What was found out about a call."""

    layout: str
    heads: int
    key_heads: int
    sequences: tuple[Sequence, ...]
    blocks: Blocks
    scale: float
    keep: float
    mode: int
    before: int
    after: int
    prefix: tuple[int, ...]
    shift_type: int
    start: int


def forward_kernel(
    query: Array,
    key: Array,
    value: Array,
    query_rope: Array | None,
    key_rope: Array | None,
    shift: Array | None,
    drop: Array | None,
    mask: Array | None,
    maximum: Array,
    total: Array,
    out: Array,
    *,
    largest: Array,
    sums: Array,
    setting: Setting,
    statistics: str,
    **scratch: Array,
) -> None:
    """Each sequence in blocks; maximum and sum are stored eight times at the end."""
    outs = by_head(out, setting.layout, setting.heads)
    tasks = tasks_of(setting, (query, key, value, query_rope, key_rope), shift, drop, mask)
    largest[...], sums[...] = 0, 0
    clear_rest(setting, outs)
    for sequence, task in zip(setting.sequences, tasks, strict=True):
        rows = slice(*sequence.query)
        found, top, total_of = (array[sequence.batch, :, rows] for array in (outs, largest, sums))
        attend(task, found, top, total_of, setting.blocks, Scratch(**scratch), divided)
    for rows_of, target in ((largest, maximum), (sums, total)):
        target[...] = as_stored(rows_of, statistics).reshape(target.shape[:-1])[..., np.newaxis]


def clear_rest(setting: Setting, queries: Array | None, *keys: Array | None) -> None:
    """Set what no sequence reaches to 0."""
    ends = [max(sequence.query[1] for sequence in setting.sequences), max(sequence.key[1] for sequence in setting.sequences)]
    for array, end in ((queries, ends[0]), *((array, ends[1]) for array in keys)):
        if array is not None:
            array[:, :, end:] = 0


def as_stored(found: Array, axes: str) -> Array:
    """Statistics by batch, head and position, in the order in which they are stored."""
    return found if axes == "BNS" else found[0] if axes == "NS" else found[0].T


def backward_kernel(
    query: Array,
    key: Array,
    value: Array,
    query_rope: Array | None,
    key_rope: Array | None,
    shift: Array | None,
    drop: Array | None,
    mask: Array | None,
    slope: Array,
    maximum: Array,
    total: Array,
    output: Array,
    /,
    *outs: Array | None,
    setting: Setting,
    axes: str,
    **scratch: Array,
) -> None:
    """Each sequence in blocks."""
    slopes, outputs = (by_head(array, setting.layout, setting.heads) for array in (slope, output))
    largest, sums = (by_position(array[..., 0], axes) for array in (maximum, total))
    counts = (setting.heads, setting.key_heads, setting.key_heads, setting.heads, setting.key_heads)
    query_out, key_out, value_out, *rope_outs = (
        None if array is None else by_head(array, setting.layout, count) for array, count in zip(outs, counts, strict=True)
    )
    tasks = tasks_of(setting, (query, key, value, query_rope, key_rope), shift, drop, mask)
    clear_rest(setting, query_out, key_out, value_out, rope_outs[1])
    clear_rest(setting, rope_outs[0])
    for sequence, task in zip(setting.sequences, tasks, strict=True):
        rows, columns = slice(*sequence.query), slice(*sequence.key)
        forward = Forward(*(array[sequence.batch, :, rows] for array in (outputs, largest, sums)))
        sources = (query_out, rope_outs[0]), (key_out, rope_outs[1]), (value_out,)
        found = [
            tuple(array[sequence.batch, :, where] for array in arrays if array is not None)
            for arrays, where in zip(sources, (rows, columns, columns), strict=True)
        ]
        targets = Gradients(found[0], found[1], found[2][0])
        propagate(task, slopes[sequence.batch, :, rows], forward, targets, setting.blocks, softmax_gradient.Scratch(**scratch))


def by_position(stored: Array, axes: str) -> Array:
    """Statistics as they are stored, by batch, head and position."""
    if axes == "BNS":
        return stored
    return stored.reshape(1, *reversed(stored.shape)) if axes == "NS" else stored.T[np.newaxis]


def tasks_of(
    setting: Setting, arrays: tuple[Array | None, ...], shift: Array | None, drop: Array | None, mask: Array | None
) -> Iterator[Task]:
    """The attention of each sequence."""
    counts = (setting.heads, setting.key_heads, setting.key_heads, setting.heads, setting.key_heads)
    query, key, value, query_rope, key_rope = (
        None if array is None else by_head(array, setting.layout, count) for array, count in zip(arrays, counts, strict=True)
    )
    sizes = [rows * columns for rows, columns in (sequence.lengths for sequence in setting.sequences)]
    firsts = [0, *accumulate(setting.heads * size for size in sizes)]
    compressed = diagonals(mask.reshape(mask.shape[-2:])) if mask is not None and setting.mode in COMPRESSED else None
    full = None if mask is None or compressed is not None else mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    for number, sequence in enumerate(setting.sequences):
        at, rows, columns = sequence.batch, slice(*sequence.query), slice(*sequence.key)
        queries, keys = sequence.lengths
        assert query is not None
        assert key is not None
        assert value is not None
        yield Task(
            tuple(array[at, :, rows] for array in (query, query_rope) if array is not None),
            blocks_of(*(array[at, :, columns] for array in (key, key_rope) if array is not None)),
            blocks_of(value[at, :, columns]),
            keys,
            setting.key_heads,
            setting.scale,
            Visibility() if mask is None else seen(setting, number, compressed),
            None if full is None else full[number if len(full) > 1 else 0, :, :queries, :keys],
            None if shift is None else shift_of(setting, shift, number, firsts[number]),
            setting.shift_type == 1,
            Dropped(drop.reshape(-1), firsts[number], setting.keep) if drop is not None and setting.keep < 1 else None,
        )


def blocks_of(*arrays: Array) -> Block:
    """Blocks of keys or values; the features of several arrays follow each other."""

    def block(heads: slice, columns: slice) -> Array:
        found = [array[heads, columns] for array in arrays]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=2)

    return block


def seen(setting: Setting, number: int, compressed: Array | None) -> Visibility:
    """What the queries of a sequence see; in modes 7 and 8 the last or first sequence has a band, the others a triangle."""
    mode = setting.mode
    if mode in (Sparse.RIGHT_DOWN_CAUSAL_BAND, Sparse.BAND_LEFT_UP_CAUSAL):
        present = [index for index, sequence in enumerate(setting.sequences) if min(sequence.lengths) > 0]
        last = mode == Sparse.RIGHT_DOWN_CAUSAL_BAND
        others = Sparse.RIGHT_DOWN_CAUSAL if last else Sparse.LEFT_UP_CAUSAL
        mode = Sparse.BAND if present and number == present[-1 if last else 0] else others
    prefix = setting.prefix[number] if mode in (Sparse.PREFIX, Sparse.PREFIX_COMPRESSED) else 0
    return visibility(mode, *setting.sequences[number].lengths, setting.before, setting.after, prefix, compressed)


def shift_of(setting: Setting, shift: Array, number: int, first: int) -> Given | Slopes:
    """The position encoding of a sequence."""
    queries, keys = setting.sequences[number].lengths
    if setting.shift_type >= 2:
        return Slopes(shift[number] if shift.ndim == 2 else shift, setting.start, root=setting.shift_type == 3)
    if shift.ndim == 1:
        return Given(shift[first : first + setting.heads * queries * keys].reshape(setting.heads, queries, keys), queries)
    return Given(shift[number if len(shift) > 1 else 0], queries)
