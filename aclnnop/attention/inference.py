"""Attention for inference: the parameters that its operators share, their rules, and the plan."""

from dataclasses import replace
from itertools import pairwise
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT4, INT8, INT32, INT64, UINT8, UINT64
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import HandleKind, In, ListOf, Operand, Out, Plan, Product, StringKind, direct, nothing, require, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.attention.heads import Lengths, lengths, shape_in
from aclnnop.attention.inference_inputs import Found, Inputs, side_layout, unpacked_lengths
from aclnnop.attention.inference_kernels import TREE, Sequence, Setting, infer
from aclnnop.attention.online_softmax import blocks_for, scratch_for
from aclnnop.attention.ropes_and_sinks import ROPE_FEATURES, check_latent, check_ropes, check_sink, check_tree
from aclnnop.attention.scalings import PACKED, check_quantised, check_scalings
from aclnnop.attention.visibility import COMPRESSED, TRIANGLE, Sparse

PRODUCTS = frozenset({Product.A3, Product.A2})
STORED = (FLOAT16, BF16, INT8, INT4, INT32)
"""The types of keys and values; INT32 holds eight INT4."""

Query = Annotated[Operand, In(FLOAT16, BF16, INT8)]
Stored = Annotated[list[Operand], ListOf(In(*STORED))]
Shift = Annotated[Operand | None, In(FLOAT16, BF16, optional=True)]
Mask = Annotated[Operand | None, In(BOOL, INT8, UINT8, optional=True)]
Dequantisation = Annotated[Operand | None, In(UINT64, FLOAT, optional=True)]
Quantisation = Annotated[Operand | None, In(FLOAT, optional=True)]
OutQuantisation = Annotated[Operand | None, In(FLOAT, BF16, optional=True)]
Scales = Annotated[Operand | None, In(FLOAT16, BF16, FLOAT, optional=True)]
BlockTable = Annotated[Operand | None, In(INT32, optional=True)]
Padding = Annotated[Operand | None, In(INT64, optional=True)]
Prefix = Annotated[Operand | None, In(FLOAT16, BF16, INT8, INT32, optional=True)]
Numbers = Annotated[IntArray | None, HandleKind(IntArray, optional=True)]
Layout = Annotated[str, StringKind("char*")]
Attended = Annotated[Operand, Out(FLOAT16, BF16, INT8, const=True)]
Rope = Annotated[Operand | None, In(FLOAT16, BF16, optional=True)]
Unused = Annotated[Operand | None, In(optional=True)]
QueryScale = Annotated[Operand | None, In(FLOAT, optional=True)]
Lse = Annotated[Operand | None, Out(FLOAT, optional=True, const=True)]

OLDER = PRODUCTS | {Product.A310P}
"""Where prompts and single queries have operators of their own."""
ON_310P = {Product.A310P: (FLOAT16,)}
OldHalf = Annotated[Operand, In(FLOAT16, BF16, on=ON_310P)]
OldHalves = Annotated[list[Operand], ListOf(In(FLOAT16, BF16, on=ON_310P))]
OldHalfOut = Annotated[Operand, Out(FLOAT16, BF16, const=True, on=ON_310P)]
OldQuery = Annotated[Operand, In(FLOAT16, BF16, INT8, on=ON_310P)]
OldKey = OldQuery
OldStored = Annotated[list[Operand], ListOf(In(FLOAT16, BF16, INT8, on=ON_310P))]
OldMask = Annotated[Operand | None, In(BOOL, INT8, UINT8, optional=True, on={Product.A310P: (BOOL,)})]
OldAttended = Annotated[Operand, Out(FLOAT16, BF16, INT8, const=True, on=ON_310P)]

LAYOUTS_V4 = (
    *("BSH", "BSND", "TND", "BNSD", "NTD", "BSH_BNSD", "BSND_BNSD", "BNSD_BSND", "TND_NTD", "NTD_TND"),
    *("BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"),
)
LAYOUTS_V3 = ("BSH", "BSND", "BNSD", "BNSD_BSND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND", "TND_NTD", "NTD_TND")
PROMPT_LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND")
ONE_QUERY_LAYOUTS = ("BSH", "BNSD", "BSND")
UNLIMITED = 2147483647
"""Tokens that reach all keys."""
MODES = range(Sparse.PREFIX)
PAGE_LENGTHS = range(128, 513, 128)
LARGEST_PAGE = 512
LARGEST_ROW = 65535
"""Features of all heads in pages that hold positions first."""


def attention(given: Inputs) -> Plan:
    """The plan; rules are those of the kernel's tiling, which reports 561002."""
    if given.query.size == 0:
        return nothing()
    if given.single:
        given = without_empty(given)
    with in_tiling():
        check_310p(given)
        found = lengths_of(given)
        check_types(given, found)
        prefix = check_prefix(given, found)
        check_pages(given, found)
        paddings = paddings_of(given, found)
        check_mask(given, found, prefix)
        check_shift(given, found, prefix)
        sides = check_scalings(given, found, side_layout(given.key[0], given))
        check_quantised(given, found, prefix)
        check_ropes(given, found)
        check_sink(given, found)
        shape_is(given.out, shape_in(given.out_layout, found.query._replace(features=found.value.features)), "that of query in its layout")
        if given.lse is not None:
            rows = (found.query.positions, found.query.heads, 1) if given.packed else (*found.query[:3], 1)
            shape_is(given.lse, rows, "one for each head and query")
    queries = max((sequence.queries for sequence in found.sequences), default=0)
    keys = max((sequence.keys for sequence in found.sequences), default=0) + prefix
    group = found.query.heads // found.key.heads
    blocks = blocks_for(found.key.heads, group, queries, keys)
    reads = {
        "query": given.query,
        **{f"key[{index}]": member for index, member in enumerate(given.key)},
        **{f"value[{index}]": member for index, member in enumerate(given.value)},
        "shift": given.shift,
        "mask": given.mask,
        "table": given.table,
        "queryPadding": paddings[0],
        "kvPadding": paddings[1],
        "queryRope": given.ropes[0],
        "keyRope": given.ropes[1],
        "sink": given.sink,
        "queryScale": given.query_scale,
        "keyPrefix": given.prefixes[0],
        "valuePrefix": given.prefixes[1],
        **given.scales,
    }
    writes = {"out": given.out, "lse": given.lse}
    setting = Setting(
        tuple(name for name, operand in (*reads.items(), *writes.items()) if operand is not None),
        given.in_layout,
        given.out_layout,
        found.query.heads,
        found.key.heads,
        found.sequences,
        blocks,
        given.scale,
        None if found.single else given.mode,
        given.before,
        given.after,
        sides,
        prefix,
        given.block_size,
        "SN" if given.packed else "BNS",
    )
    return direct(
        infer,
        reads=[operand for operand in reads.values() if operand is not None],
        writes=[operand for operand in writes.values() if operand is not None],
        scratch={
            **scratch_for(blocks, group, found.query.features + (ROPE_FEATURES if given.ropes[0] else 0), found.value.features),
            "largest": (found.query[:3], np.float32),
            "sums": (found.query[:3], np.float32),
        },
        setting=setting,
    )


def without_empty(given: Inputs) -> Inputs:
    """The operators for one query take empty tensors for null ones."""

    def present(operand: Operand | None) -> Operand | None:
        return operand if operand is not None and operand.size else None

    return replace(
        given,
        shift=present(given.shift),
        mask=present(given.mask),
        table=present(given.table),
        paddings=(None, present(given.paddings[1])),
        scales={name: present(operand) for name, operand in given.scales.items()},
    )


def check_310p(given: Inputs) -> None:
    """What the smaller chip leaves out, of the operators that it has."""
    if soc.current().product is not Product.A310P or given.single is None:
        return
    text = f"on {soc.current().name}"
    require(given.key_heads == 0, f"numKeyValueHeads is {given.key_heads}, expected 0 {text}")
    scaled = [name for name, operand in given.scales.items() if operand is not None]
    require(not scaled, f"{', '.join(scaled)} given, expected null {text}")
    if not given.single:
        require(given.shift is None, f"pseShift is given, expected null {text}")
        require(given.before == UNLIMITED, f"preTokens is {given.before}, expected {UNLIMITED} {text}")
        require(given.after in (0, UNLIMITED), f"nextTokens is {given.after}, expected 0 or {UNLIMITED} {text}")
        require(given.mode == Sparse.DEFAULT, f"sparseMode is {given.mode}, expected 0 {text}")


def lengths_of(given: Inputs) -> Found:
    """Check the shapes of query, key and value, and the lengths of the sequences."""
    require(given.layout in given.layouts, f"inputLayout is {given.layout!r}, expected one of {', '.join(given.layouts)}")
    require(given.heads > 0, f"numHeads is {given.heads}, expected a value above 0")
    key_heads = given.key_heads or given.heads
    require(
        key_heads > 0 and given.heads % key_heads == 0,
        f"numKeyValueHeads is {given.key_heads}, expected a divisor of numHeads: {given.heads}",
    )
    query = lengths(given.query, given.in_layout, given.heads)
    require(query.heads == given.heads, f"numHeads is {given.heads}, expected the heads of query: {query.heads}")
    sides = []
    for name, members in (("key", given.key), ("value", given.value)):
        first = members[0]
        own = unpacked_lengths(first, side_layout(first, given), key_heads)
        require(own.heads == key_heads, f"{first.name} has {own.heads} heads, expected numKeyValueHeads: {key_heads}")
        for member in members[1:]:
            require(member.rank == first.rank and member.dtype is first.dtype, f"{member.name} is of another kind than {name}[0]")
            others = unpacked_lengths(member, side_layout(member, given), key_heads)
            require(
                others._replace(positions=0) == own._replace(positions=0) and own.batch == 1,
                f"{member.name} has shape {list(member.shape)}, expected a batch of 1, and heads and features of {name}[0]",
            )
        sides.append(own)
    key, value = sides
    require(len(given.key) == len(given.value), f"value has {len(given.value)} members, expected as many as key: {len(given.key)}")
    for first, second in zip(given.key, given.value, strict=True):
        same = first.shape[:-1] == second.shape[:-1] if given.packed and given.table is None else first.shape == second.shape
        require(same, f"{second.name} has shape {list(second.shape)}, expected that of {first.name}: {list(first.shape)}")
    require(key.features == query.features, f"key has {key.features} features for each head, expected those of query: {query.features}")
    require(value.features > 0, "value has 0 features for each head, expected at least 1")
    batch = len(values_of(given.query_lengths)) if given.packed else query.batch
    alone = not given.packed and query.positions == 1 and given.ropes == (None, None)
    single = alone if given.single is None else given.single
    require(not given.single or query.positions == 1, f"query has {query.positions} positions, expected 1")
    if given.table is None and not given.packed:
        fits = len(given.key) == batch if len(given.key) > 1 else key.batch == batch
        require(fits, f"key has {len(given.key)} members with a batch of {key.batch}, expected {batch} sequences in all")
    positions = [unpacked_lengths(member, side_layout(member, given), key_heads).positions for member in given.key]
    sequences = sequences_of(given, query, key, batch, single=single, positions=positions)
    longest = max((sequence.keys for sequence in sequences), default=0)
    reach = max(positions) if given.table is None else -(-longest // max(given.block_size, 1)) * given.block_size
    return Found(query, key, value, batch, single, sequences, reach)


def values_of(array: IntArray | None) -> tuple[int, ...]:
    """The numbers of an array; none of one that is null."""
    return tuple(array.values) if array is not None else ()


def sequences_of(given: Inputs, query: Lengths, key: Lengths, batch: int, *, single: bool, positions: list[int]) -> tuple[Sequence, ...]:
    """The sequences, with the lengths that count."""
    limits = positions * (batch // len(positions))
    if given.table is not None:
        limits = [(given.table.shape[1] if given.table.rank == 2 else 0) * given.block_size] * batch
    if given.packed:
        queries = ends_of("actualSeqLengths", given.query_lengths, query.positions)
        if given.table is not None:
            keys = [(0, count) for count in counts_of("actualSeqLengthsKv", given.key_lengths, batch, limits)]
        else:
            keys = ends_of("actualSeqLengthsKv", given.key_lengths, key.positions)
            require(
                len(keys) == batch,
                f"actualSeqLengthsKv has {len(keys)} elements, expected as many as actualSeqLengths: {batch}",
            )
        return tuple(
            Sequence(0, first, last - first, start, stop - start) for (first, last), (start, stop) in zip(queries, keys, strict=True)
        )
    rows = [1] * batch if single else counts_of("actualSeqLengths", given.query_lengths, batch, [query.positions] * batch)
    columns = counts_of("actualSeqLengthsKv", given.key_lengths, batch, limits)
    return tuple(Sequence(number, 0, *counts[:1], 0, *counts[1:]) for number, counts in enumerate(zip(rows, columns, strict=True)))


def ends_of(name: str, array: IntArray | None, positions: int) -> list[tuple[int, int]]:
    """Where sequences that follow each other begin and end."""
    values = values_of(array)
    rising = all(first <= second for first, second in pairwise((0, *values)))
    require(
        bool(values) and rising and values[-1] == positions,
        f"{name} is {list(values)}, expected ends of sequences that rise to the length {positions} for this layout",
    )
    return list(pairwise((0, *values)))


def counts_of(name: str, array: IntArray | None, batch: int, limits: list[int]) -> list[int]:
    """How many positions of each sequence count; one number stands for all, and none are as good as null."""
    values = list(values_of(array))
    if not values:
        return limits
    require(len(values) == 1 or len(values) >= batch, f"{name} has {len(values)} elements, expected 1 or at least the batch: {batch}")
    counts = values * batch if len(values) == 1 else values[:batch]
    for count, limit in zip(counts, limits, strict=True):
        require(0 <= count <= limit, f"{name} is {values}, expected values from 0 to {limit}")
    return counts


def check_types(given: Inputs, found: Found) -> None:
    """Which types go together."""
    key, value, query = given.key[0].dtype, given.value[0].dtype, given.query.dtype
    require(key is value, f"value has dtype {value}, expected that of key: {key}")
    if given.query_scale is not None:
        check_latent(given, found)
    elif query is INT8:
        require(key is INT8, f"key has dtype {key}, expected INT8 as query")
        require(not found.single, "query has dtype INT8, expected FLOAT16 or BF16 where there is one query")
        require(given.table is None, "query has dtype INT8, expected FLOAT16 or BF16 with a blockTable")
    else:
        require(key is query or key in (INT8, *PACKED), f"key has dtype {key}, expected that of query, INT8, INT4 or INT32: {query}")
    wanted = (BF16,) if given.query_scale is not None else (INT8, FLOAT16) if query is INT8 else (INT8, query)
    require(given.out.dtype in wanted, f"attentionOut has dtype {given.out.dtype}, expected one of {', '.join(map(str, wanted))}")


def check_prefix(given: Inputs, found: Found) -> int:
    """Keys and values that all sequences share; returns how many there are."""
    key, value = given.prefixes
    require((key is None) == (value is None), "keySharedPrefix and valueSharedPrefix, expected both or none")
    if key is None or value is None:
        return 0
    require(given.table is None, "keySharedPrefix is given, expected null with a blockTable")
    require(given.paddings == (None, None), "keySharedPrefix is given, expected null where sequences are padded on the left")
    require(
        len(given.key) == 1 and not given.packed,
        f"keySharedPrefix is given, expected null with a list of keys and for layout {given.layout}",
    )
    require(given.query.dtype is not INT8, "keySharedPrefix is given, expected null where query has dtype INT8")
    sizes = []
    for prefix, stored in ((key, given.key[0]), (value, given.value[0])):
        require(prefix.dtype is stored.dtype, f"{prefix.name} has dtype {prefix.dtype}, expected that of {stored.name}: {stored.dtype}")
        own = unpacked_lengths(prefix, given.in_layout, found.key.heads)
        fits = own.batch == 1 and (own.heads, own.features) == (found.key.heads, found.key.features)
        require(fits, f"{prefix.name} has shape {list(prefix.shape)}, expected a batch of 1, and heads and features of {stored.name}")
        sizes.append(own.positions)
    require(sizes[0] == sizes[1], f"valueSharedPrefix has {sizes[1]} positions, expected those of keySharedPrefix: {sizes[0]}")
    if given.prefix_length is None:
        return sizes[0]
    counts = values_of(given.prefix_length)
    require(
        len(counts) == 1 and 0 <= counts[0] <= sizes[0],
        f"actualSharedPrefixLenOptional is {list(counts)}, expected one value from 0 to {sizes[0]}",
    )
    return counts[0]


def check_pages(given: Inputs, found: Found) -> None:
    """Keys and values in pages."""
    table = given.table
    if table is None:
        return
    size = given.block_size
    sizes, rule = page_sizes(given, found)
    require(size in sizes, f"blockSize is {size}, expected {rule} with a blockTable")
    require(len(given.key) == 1, f"key has {len(given.key)} members, expected 1 with a blockTable")
    require(bool(values_of(given.key_lengths)), "actualSeqLengthsKvOptional is null, expected lengths with a blockTable")
    require(
        table.rank == 2 and table.shape[0] == found.batch,
        f"blockTable has shape {list(table.shape)}, expected a row for each of {found.batch} sequences",
    )
    key = given.key[0]
    require(
        given.newest or key.rank != 4 or given.in_layout not in ("BSH", "BSND"),
        f"key has shape {list(key.shape)}, expected 3 dimensions for layout {given.layout}",
    )
    require(found.key.positions == size, f"key has shape {list(key.shape)}, expected blocks of blockSize: {size}")
    row = found.key.heads * found.key.features
    require(key.rank > 3 or row <= LARGEST_ROW, f"key has {row} features in all, expected at most {LARGEST_ROW} in blocks of that order")
    count = sum(-(-sequence.keys // size) for sequence in found.sequences)
    require(found.key.batch >= count, f"key has {found.key.batch} blocks, expected at least the {count} that all sequences take")


def page_sizes(given: Inputs, found: Found) -> tuple[range, str]:
    """How many positions a page may have, and how the rule reads."""
    if given.single:
        step = 32 if given.key[0].dtype is INT8 else 16
        return range(step, LARGEST_PAGE + 1, step), f"a multiple of {step} up to {LARGEST_PAGE}"
    if given.newest:
        return range(16, 2 * LARGEST_PAGE + 1, 16), f"a multiple of 16 up to {2 * LARGEST_PAGE}"
    if found.single:
        return range(1, LARGEST_PAGE + 1), f"1 to {LARGEST_PAGE}"
    if given.packed or given.ropes != (None, None):
        return range(16, LARGEST_PAGE + 1, 16), f"a multiple of 16 up to {LARGEST_PAGE}"
    return PAGE_LENGTHS, "128, 256, 384 or 512"


def paddings_of(given: Inputs, found: Found) -> tuple[Operand | None, Operand | None]:
    """Paddings on the left that have an effect: they need lengths of sequences; one query has none, and its keys only in one tensor."""
    plain = given.table is None and len(given.key) == 1
    query, key = given.paddings
    query = None if found.single or not values_of(given.query_lengths) else query
    key = None if not values_of(given.key_lengths) or (found.single and not plain) else key
    for padding in filter(None, (query, key)):
        require(padding.size == 1, f"{padding.name} has {padding.size} elements, expected 1")
        require(plain, f"{padding.name} is given, expected null with a blockTable and with a list of keys")
    return query, key


def check_mask(given: Inputs, found: Found, prefix: int) -> None:
    """The shape of a mask; one for a single query has a row for each sequence."""
    mask = given.mask
    if not found.single:
        modes = (*MODES, TREE) if given.newest else MODES
        require(given.mode in modes, f"sparseMode is {given.mode}, expected one of {', '.join(map(str, modes))}")
        require(mask is not None or given.mode == Sparse.DEFAULT, f"attenMaskOptional is null, expected a mask in sparseMode {given.mode}")
    if mask is None:
        return
    text = f"{mask.name} has shape {list(mask.shape)}"
    if not found.single and given.mode == TREE:
        check_tree(given, found, mask)
        return
    require(2 <= mask.rank <= 4, f"{text}, expected 2 to 4 dimensions")
    if found.single:
        rows = int(np.prod(mask.shape[:-1]))
        require(rows in (1, found.batch), f"{text}, expected a row for each of {found.batch} sequences")
        require(mask.shape[-1] >= found.reach + prefix, f"{text}, expected a last length of at least {found.reach + prefix}")
    elif given.mode in COMPRESSED:
        fits = mask.shape[-2:] == (TRIANGLE, TRIANGLE) and mask.size == TRIANGLE**2
        require(fits, f"{text}, expected [{TRIANGLE}, {TRIANGLE}] in sparseMode {given.mode}")
    else:
        batches = int(np.prod(mask.shape[:-2]))
        rows = max((sequence.queries for sequence in found.sequences), default=0) if given.packed else found.query.positions
        columns = max((sequence.keys for sequence in found.sequences), default=0) if given.packed else found.reach
        require(batches in (1, found.batch), f"{text}, expected one mask for all or for each of {found.batch} sequences")
        require(
            mask.shape[-2] >= rows and mask.shape[-1] >= columns + prefix,
            f"{text}, expected last lengths of at least {rows} and {columns + prefix}",
        )


def check_shift(given: Inputs, found: Found, prefix: int) -> None:
    """Type and shape of a position encoding."""
    shift = given.shift
    if shift is None:
        return
    wanted = FLOAT16 if given.query.dtype is INT8 else given.query.dtype
    require(shift.dtype is wanted, f"{shift.name} has dtype {shift.dtype}, expected {wanted}")
    text = f"{shift.name} has shape {list(shift.shape)}"
    require(
        shift.rank == 4 and shift.shape[0] in (1, found.batch) and shift.shape[1] == found.query.heads,
        f"{text}, expected a batch of 1 or {found.batch}, and {found.query.heads} heads",
    )
    longest = max((sequence.queries for sequence in found.sequences), default=0)
    rows = longest if found.single or given.packed else found.query.positions
    fits = shift.shape[2] >= rows and shift.shape[3] >= found.reach + prefix
    require(fits, f"{text}, expected last lengths of at least {rows} and {found.reach + prefix}")
