"""The kernel of attention for inference: sequence by sequence, with keys and values from wherever they are stored."""

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from acl_emu.engine import apply
from acl_emu.spec import Array
from aclnnop.attention.cache import Scaling, behind, beside, check_pages, factor, in_float, paged, stored, unpacked
from aclnnop.attention.heads import by_head
from aclnnop.attention.online_softmax import Blocks, Finish, Scratch, attend, divided
from aclnnop.attention.scores import Block, Given, Task
from aclnnop.attention.visibility import COMPRESSED, Visibility, diagonals, visibility

TREE = 9
"""The sparse mode with a mask of the last keys."""


class Sequence(NamedTuple):
    """A sequence: where its queries and keys are, and how many count."""

    batch: int
    """Of queries."""
    query: int
    """The first position."""
    queries: int
    key: int
    keys: int
    """Without a prefix."""
    row: int = 0
    """Of masks and position encodings, that of the first query; ``column``: that of the first key."""
    column: int = 0


class Side(NamedTuple):
    """What is known about keys, or about values."""

    name: str
    layout: str
    members: int
    """Of the list: 1, or one for each sequence."""
    kind: str
    """How scales are given; empty without any."""
    merged: int | None
    """Which half of the scales of both is its own; None where it has its own."""
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of the members where they are packed: of INT4, or of INT32 that hold eight of these."""
    prefix: tuple[int, ...] = ()
    """The same of what is shared."""


class Setting(NamedTuple):
    """What was found out about a call."""

    names: tuple[str, ...]
    """Of the tensors, in the order in which the kernel gets them."""
    layout: str
    out_layout: str
    heads: int
    key_heads: int
    sequences: tuple[Sequence, ...]
    blocks: Blocks
    scale: float
    mode: int | None
    """The sparse mode; None where there is one query, which sees all keys that the mask shows."""
    before: int
    after: int
    sides: tuple[Side, Side]
    prefix: int
    block_size: int
    lse_axes: str


def infer(*arrays: Array, setting: Setting, largest: Array, sums: Array, **scratch: Array) -> None:
    """Write the attention of every sequence; queries that do not count give 0."""
    given = dict(zip(setting.names, arrays, strict=True))
    out, lse = given["out"], given.get("lse")
    query = given["query"].copy() if np.may_share_memory(out, given["query"]) else given["query"]  # out is cleared first
    outs, queries = by_head(out, setting.out_layout, setting.heads), by_head(query, setting.layout, setting.heads)
    table = given.get("table")
    if table is not None:
        pages = [-(-sequence.keys // setting.block_size) for sequence in setting.sequences]
        check_pages(table, pages, len(given["key[0]"]))
    finish = quantised(given, setting.heads) if out.dtype == np.int8 else given_back(given)
    if "queryScale" in given:
        scale = given["queryScale"].reshape(*given["queryScale"].shape, 1)
        queries = queries * by_head(scale, setting.layout.replace("H", "ND"), setting.heads)
    more = [by_head(given["queryRope"], setting.layout, setting.heads)] if "queryRope" in given else []
    sources = [sources_of(given, side, setting) for side in setting.sides]
    mask = masks(given, setting)
    out[...] = 0
    largest[...], sums[...] = -np.inf, 0
    for number, planned in enumerate(setting.sequences):
        sequence = aligned(planned, given, queries.shape[2], setting)
        if sequence is None:
            continue
        rows = slice(sequence.query, sequence.query + sequence.queries)
        keys = sequence.keys + setting.prefix
        task = Task(
            tuple(array[sequence.batch, :, rows] for array in (queries, *more)),
            sources[0](number, sequence),
            sources[1](number, sequence),
            keys,
            setting.key_heads,
            setting.scale * dequantisation(given, "deqScale1"),
            mask.seen(sequence.queries, keys),
            mask.tree(number, sequence.queries, keys) if mask.tree else from_corner(mask.full, number, sequence),
            Given(shift, sequence.queries) if (shift := from_corner(given.get("shift"), number, sequence)) is not None else None,
            shift_first=False,
            sink=given["sink"].astype(np.float32) if "sink" in given else None,
            weight_scale=float(given["quantScale1"].reshape(-1)[0]) if "quantScale1" in given else None,
        )
        found, top, total = (array[sequence.batch, :, rows] for array in (outs, largest, sums))
        attend(task, found, top, total, setting.blocks, Scratch(**scratch), finish)
    if lse is not None:
        with np.errstate(divide="ignore"):
            logarithms = np.where(sums > 0, largest + np.log(sums), np.inf)
        stored_as = logarithms if setting.lse_axes == "BNS" else logarithms[0].T
        lse[...] = stored_as.reshape(lse.shape)


def from_corner(values: Array | None, number: int, sequence: Sequence) -> Array | None:
    """What a mask or a position encoding has for a sequence, from its first query and key on."""
    return None if values is None else values[number if len(values) > 1 else 0][:, sequence.row :, sequence.column :]


class Masks(NamedTuple):
    """The mask: compressed, or of the scores of every sequence."""

    seen: Callable[[int, int], Visibility]
    full: Array | None
    tree: Callable[[int, int, int], Array] | None = None
    """Of a sequence, by its number, its queries and its keys."""


def masks(given: dict[str, Array], setting: Setting) -> Masks:
    """What a mask and the sparse mode hide."""
    mask = given.get("mask")
    if mask is None:
        return Masks(lambda *_: Visibility(), None)
    if setting.mode is None:
        lines = mask.reshape(-1, 1, 1, mask.shape[-1])
        return Masks(lambda *_: Visibility(), lines)
    mode = setting.mode
    if mode == TREE:
        return Masks(lambda *_: Visibility(), None, trees(mask, setting.sequences))
    compressed = diagonals(mask.reshape(mask.shape[-2:])) if mode in COMPRESSED else None
    full = None if compressed is not None else mask.reshape(-1, 1, *mask.shape[-2:])
    left = "queryPadding" in given or "kvPadding" in given
    tokens = (1 << 40, 1 << 40) if left and mode == 0 else (setting.before, setting.after)
    return Masks(lambda rows, columns: visibility(mode, rows, columns, *tokens, 0, compressed), full)


def trees(mask: Array, sequences: tuple[Sequence, ...]) -> Callable[[int, int, int], Array]:
    """Masks of the last keys of each sequence, one behind the other; what comes before is seen."""
    firsts = [0, *accumulate(sequence.queries**2 if mask.ndim == 1 else mask.shape[1] ** 2 for sequence in sequences)]
    flat = mask.reshape(-1)

    def tree(number: int, queries: int, keys: int) -> Array:
        width = queries if mask.ndim == 1 else mask.shape[1]
        square = flat[firsts[number] : firsts[number] + width * width].reshape(width, width)[:queries, :queries]
        return np.concatenate([np.zeros((queries, keys - queries), mask.dtype), square], axis=1)[np.newaxis]

    return tree


def aligned(sequence: Sequence, given: dict[str, Array], positions: int, setting: Setting) -> Sequence | None:
    """Where sequences are padded on the left, the place of the one; None where that is outside, or nothing counts."""
    if "queryPadding" in given:
        padding = max(int(given["queryPadding"].reshape(-1)[0]), 0)
        first = positions - padding - sequence.queries
        sequence = sequence._replace(query=first, row=first)
    if "kvPadding" in given:
        padding = max(int(given["kvPadding"].reshape(-1)[0]), 0)
        length = by_head(given["key[0]"], setting.sides[0].layout, setting.key_heads).shape[2]
        first = length - padding - sequence.keys
        sequence = sequence._replace(key=first, column=first)
    inside = sequence.query >= 0 and sequence.key >= 0
    return sequence if inside and sequence.queries and sequence.keys + setting.prefix else None


def sources_of(given: dict[str, Array], side: Side, setting: Setting) -> Callable[[int, Sequence], Block]:
    """Gives the keys, or the values, of a sequence."""
    members = [given[f"{side.name}[{index}]"] for index in range(side.members)]
    if side.shapes:
        members = [unpacked(member, shape) for member, shape in zip(members, side.shapes, strict=True)]
    table = given.get("table")
    arrays = [by_head(member, side.layout, setting.key_heads) for member in members]
    rope = by_head(given[f"{side.name}Rope"], side.layout, setting.key_heads) if f"{side.name}Rope" in given else None
    prefix = given.get(f"{side.name}Prefix")
    if prefix is not None:
        prefix = by_head(unpacked(prefix, side.prefix) if side.prefix else prefix, side.layout, setting.key_heads)

    def source(number: int, sequence: Sequence) -> Block:
        pages = None if table is None else table[number]
        if pages is not None:
            block = paged(arrays[0], pages)
        elif len(arrays) > 1:
            block = stored(arrays[number][0], sequence.key)
        else:
            block = stored(arrays[0][sequence.batch], sequence.key)
        if prefix is not None:
            block = behind(stored(prefix[0]), setting.prefix, block)
        if side.kind:
            block = scaling(given, side, number, setting.key_heads, pages).of(block)
        elif arrays[0].dtype == np.int8:
            block = in_float(block)
        if rope is None:
            return block
        return beside(block, paged(rope, pages) if pages is not None else stored(rope[sequence.batch], sequence.key))

    return source


def scaling(given: dict[str, Array], side: Side, number: int, key_heads: int, pages: Array | None) -> Scaling:
    """How the integers of a sequence are scaled."""
    found = []
    for word in ("Scale", "Offset"):
        name = f"{side.name}{word}" if side.merged is None else f"anti{word}"
        values = given.get(name)
        if values is not None and side.merged is not None:
            values = values[side.merged]
        found.append(None if values is None else factor(values, side.kind, number, key_heads, pages))
    assert found[0] is not None
    return Scaling(found[0], found[1])


def dequantisation(given: dict[str, Array], name: str) -> float:
    """A scale that follows a product of integers: FLOAT, or its bits in the lower half of UINT64."""
    if name not in given:
        return 1.0
    first = given[name].reshape(-1)[:1]
    return float((first & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)[0] if first.dtype == np.uint64 else first[0])


def given_back(given: dict[str, Array]) -> Finish:
    """The weighted mean, in the type of the output."""
    if "deqScale2" not in given:
        return divided
    scale = np.float32(dequantisation(given, "deqScale2"))
    return lambda result, sums, out, own: divided(result * scale, sums, out, own)


def quantised(given: dict[str, Array], heads: int) -> Finish:
    """The weighted mean as INT8: times a scale, plus an offset, for all or for each feature of each head."""
    scale = np.float32(dequantisation(given, "deqScale2"))
    scales, offsets = (
        np.broadcast_to(given[name].astype(np.float32).reshape(heads if given[name].size > 1 else 1, -1), (heads, given["out"].shape[-1]))
        if name in given
        else None
        for name in ("quantScale2", "quantOffset2")
    )

    def finish(result: Array, sums: Array, out: Array, own: slice) -> None:
        mean = np.empty(result.shape, np.float32)
        divided(result * scale, sums, mean, own)
        shape = (*result.shape[:2], 1, -1)
        factors, added = (
            np.zeros((1, 1, 1, 1), np.float32) if values is None else np.ascontiguousarray(values[own]).reshape(shape)
            for values in (scales, offsets)
        )
        apply(to_int8, (mean, factors, added), (out,))

    return finish


def to_int8(mean: Array, scale: Array, offset: Array) -> Array:
    """Rounded to nearest even, and limited to what INT8 holds."""
    limited: Array = np.minimum(np.maximum(np.rint(mean * scale + offset), -128), 127)
    return limited
