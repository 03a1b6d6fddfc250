"""Attention for inference: the parameters that its operators share, their rules, and the plan."""

from itertools import pairwise
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8, UINT64
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import HandleKind, In, ListOf, Operand, Out, Plan, Product, StringKind, direct, nothing, require, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.attention.heads import Lengths, lengths, shape_in
from aclnnop.attention.inference_inputs import Found, Inputs
from aclnnop.attention.inference_kernels import Sequence, Setting, infer
from aclnnop.attention.online_softmax import blocks_for, scratch_for
from aclnnop.attention.scalings import check_quantised, check_scalings
from aclnnop.attention.visibility import COMPRESSED, TRIANGLE, Sparse

PRODUCTS = frozenset({Product.A3, Product.A2})
STORED = (FLOAT16, BF16, INT8, INT32)
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
Lse = Annotated[Operand | None, Out(FLOAT, optional=True, const=True)]

LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND", "TND")
MODES = range(Sparse.PREFIX)
PAGE_LENGTHS = range(128, 513, 128)
LARGEST_PAGE = 512
LARGEST_ROW = 65535
"""Features of all heads in pages that hold positions first."""


def attention(given: Inputs) -> Plan:
    """The plan; rules are those of the kernel's tiling, which reports 561002."""
    if given.query.size == 0:
        return nothing()
    with in_tiling():
        found = lengths_of(given)
        check_types(given, found)
        prefix = check_prefix(given, found)
        check_pages(given, found)
        paddings = paddings_of(given, found)
        check_mask(given, found, prefix)
        check_shift(given, found, prefix)
        sides = check_scalings(given, found, side_layout(given.key[0], given))
        check_quantised(given, found, prefix)
        input_layout, out_layout = layouts(given.layout)
        shape_is(given.out, shape_in(out_layout, found.query._replace(features=found.value.features)), "that of query in its layout")
        packed = given.layout == "TND"
        if given.lse is not None:
            rows = (found.query.positions, found.query.heads, 1) if packed else (*found.query[:3], 1)
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
        "keyPrefix": given.prefixes[0],
        "valuePrefix": given.prefixes[1],
        **given.scales,
    }
    writes = {"out": given.out, "lse": given.lse}
    setting = Setting(
        tuple(name for name, operand in (*reads.items(), *writes.items()) if operand is not None),
        input_layout,
        out_layout,
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
        "SN" if packed else "BNS",
    )
    return direct(
        infer,
        reads=[operand for operand in reads.values() if operand is not None],
        writes=[operand for operand in writes.values() if operand is not None],
        scratch={
            **scratch_for(blocks, group, found.query.features, found.value.features),
            "largest": (found.query[:3], np.float32),
            "sums": (found.query[:3], np.float32),
        },
        setting=setting,
    )


def layouts(name: str) -> tuple[str, str]:
    """The layouts of input and output."""
    first, _, second = name.partition("_")
    return first, second or first


def lengths_of(given: Inputs) -> Found:
    """Check the shapes of query, key and value, and the lengths of the sequences."""
    require(given.layout in LAYOUTS, f"inputLayout is {given.layout!r}, expected one of {', '.join(LAYOUTS)}")
    layout, _ = layouts(given.layout)
    require(given.heads > 0, f"numHeads is {given.heads}, expected a value above 0")
    key_heads = given.key_heads or given.heads
    require(
        key_heads > 0 and given.heads % key_heads == 0,
        f"numKeyValueHeads is {given.key_heads}, expected a divisor of numHeads: {given.heads}",
    )
    query = lengths(given.query, layout, given.heads)
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
        require(
            first.shape == second.shape, f"{second.name} has shape {list(second.shape)}, expected that of {first.name}: {list(first.shape)}"
        )
    require(key.features == query.features, f"key has {key.features} features for each head, expected those of query: {query.features}")
    packed = layout == "TND"
    batch = len(values_of(given.query_lengths)) if packed else query.batch
    single = not packed and query.positions == 1
    if given.table is None and not packed:
        fits = len(given.key) == batch if len(given.key) > 1 else key.batch == batch
        require(fits, f"key has {len(given.key)} members with a batch of {key.batch}, expected {batch} sequences in all")
    positions = [unpacked_lengths(member, side_layout(member, given), key_heads).positions for member in given.key]
    reach = given.table.shape[1] * given.block_size if given.table is not None and given.table.rank == 2 else max(positions)
    sequences = sequences_of(given, query, key, batch, single=single, positions=positions, reach=reach)
    return Found(query, key, value, batch, single, sequences, reach)


def side_layout(member: Operand, given: Inputs) -> str:
    """The layout of keys and values: pages hold positions or heads first, whatever the layout of queries."""
    if given.table is None:
        return layouts(given.layout)[0]
    return "BSH" if member.rank == 3 else "BNSD"


def unpacked_lengths(member: Operand, layout: str, heads: int) -> Lengths:
    """The lengths of keys or values, INT4 counted one by one."""
    if member.dtype is INT32 and member.rank:
        member = member.in_view((*member.shape[:-1], member.shape[-1] * 8))
    return lengths(member, layout, heads)


def values_of(array: IntArray | None) -> tuple[int, ...]:
    """The numbers of an array; none of one that is null."""
    return tuple(array.values) if array is not None else ()


def sequences_of(
    given: Inputs, query: Lengths, key: Lengths, batch: int, *, single: bool, positions: list[int], reach: int
) -> tuple[Sequence, ...]:
    """The sequences, with the lengths that count."""
    limits = positions * (batch // len(positions)) if given.table is None else [reach] * batch
    if given.layout == "TND":
        queries = ends_of("actualSeqLengths", given.query_lengths, query.positions)
        if given.table is not None:
            keys = [(0, count) for count in counts_of("actualSeqLengthsKv", given.key_lengths, batch, limits)]
        else:
            keys = ends_of("actualSeqLengthsKv", given.key_lengths, key.positions)
            require(
                len(keys) == batch,
                f"actualSeqLengthsKvOptional has {len(keys)} elements, expected as many as actualSeqLengthsOptional: {batch}",
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
        f"{name}Optional is {list(values)}, expected ends of sequences that rise to the length {positions} for layout TND",
    )
    return list(pairwise((0, *values)))


def counts_of(name: str, array: IntArray | None, batch: int, limits: list[int]) -> list[int]:
    """How many positions of each sequence count; one number stands for all."""
    if array is None:
        return limits
    values = list(array.values)
    require(
        len(values) == 1 or len(values) >= batch, f"{name}Optional has {len(values)} elements, expected 1 or at least the batch: {batch}"
    )
    counts = values * batch if len(values) == 1 else values[:batch]
    for count, limit in zip(counts, limits, strict=True):
        require(0 <= count <= limit, f"{name}Optional is {values}, expected values from 0 to {limit}")
    return counts


def check_types(given: Inputs, found: Found) -> None:
    """Which types go together."""
    key, value, query = given.key[0].dtype, given.value[0].dtype, given.query.dtype
    require(key is value, f"value has dtype {value}, expected that of key: {key}")
    if query is INT8:
        require(key is INT8, f"key has dtype {key}, expected INT8 as query")
        require(not found.single, "query has dtype INT8, expected FLOAT16 or BF16 where there is one query")
        require(given.table is None, "query has dtype INT8, expected FLOAT16 or BF16 with a blockTable")
    else:
        require(key is query or key in (INT8, INT32), f"key has dtype {key}, expected that of query or INT8 or INT32: {query}")
    wanted = (INT8, FLOAT16) if query is INT8 else (INT8, query)
    require(given.out.dtype in wanted, f"attentionOut has dtype {given.out.dtype}, expected one of {', '.join(map(str, wanted))}")


def check_prefix(given: Inputs, found: Found) -> int:
    """Keys and values that all sequences share; returns how many there are."""
    key, value = given.prefixes
    require((key is None) == (value is None), "keySharedPrefix and valueSharedPrefix, expected both or none")
    if key is None or value is None:
        return 0
    require(given.table is None, "keySharedPrefix is given, expected null with a blockTable")
    require(given.paddings == (None, None), "keySharedPrefix is given, expected null where sequences are padded on the left")
    require(len(given.key) == 1 and given.layout != "TND", "keySharedPrefix is given, expected null with a list of keys and for layout TND")
    require(given.query.dtype is not INT8, "keySharedPrefix is given, expected null where query has dtype INT8")
    sizes = []
    for prefix, stored in ((key, given.key[0]), (value, given.value[0])):
        require(prefix.dtype is stored.dtype, f"{prefix.name} has dtype {prefix.dtype}, expected that of {stored.name}: {stored.dtype}")
        own = unpacked_lengths(prefix, layouts(given.layout)[0], found.key.heads)
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
    allowed = 0 < size <= LARGEST_PAGE if found.single else size in PAGE_LENGTHS
    rule = f"from 1 to {LARGEST_PAGE}" if found.single else "128, 256, 384 or 512"
    require(allowed, f"blockSize is {size}, expected {rule} with a blockTable")
    require(len(given.key) == 1, f"key has {len(given.key)} members, expected 1 with a blockTable")
    require(given.key_lengths is not None, "actualSeqLengthsKvOptional is null, expected lengths with a blockTable")
    require(
        table.rank == 2 and table.shape[0] == found.batch,
        f"blockTable has shape {list(table.shape)}, expected a row for each of {found.batch} sequences",
    )
    key = given.key[0]
    require(
        key.rank == 3 or layouts(given.layout)[0] != "BSH",
        f"key has shape {list(key.shape)}, expected 3 dimensions for layout {given.layout}",
    )
    require(found.key.positions == size, f"key has shape {list(key.shape)}, expected blocks of blockSize: {size}")
    row = found.key.heads * found.key.features
    require(key.rank == 4 or row <= LARGEST_ROW, f"key has {row} features in all, expected at most {LARGEST_ROW} in blocks of that order")
    count = sum(-(-sequence.keys // size) for sequence in found.sequences)
    require(found.key.batch >= count, f"key has {found.key.batch} blocks, expected at least the {count} that all sequences take")


def paddings_of(given: Inputs, found: Found) -> tuple[Operand | None, Operand | None]:
    """Paddings on the left that have an effect: they need lengths of sequences; one query has none, and its keys only in one tensor."""
    plain = given.table is None and len(given.key) == 1
    query, key = given.paddings
    query = None if found.single or given.query_lengths is None else query
    key = None if given.key_lengths is None or (found.single and not plain) else key
    for padding in filter(None, (query, key)):
        require(padding.size == 1, f"{padding.name} has {padding.size} elements, expected 1")
        require(plain, f"{padding.name} is given, expected null with a blockTable and with a list of keys")
    return query, key


def check_mask(given: Inputs, found: Found, prefix: int) -> None:
    """The shape of a mask; one for a single query has a row for each sequence."""
    mask = given.mask
    if not found.single:
        require(given.mode in MODES, f"sparseMode is {given.mode}, expected 0, 1, 2, 3 or 4")
        require(mask is not None or given.mode == Sparse.DEFAULT, f"attenMaskOptional is null, expected a mask in sparseMode {given.mode}")
    if mask is None:
        return
    text = f"attenMaskOptional has shape {list(mask.shape)}"
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
        rows = max((sequence.queries for sequence in found.sequences), default=0) if given.layout == "TND" else found.query.positions
        columns = max((sequence.keys for sequence in found.sequences), default=0) if given.layout == "TND" else found.reach
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
    require(shift.dtype is wanted, f"pseShiftOptional has dtype {shift.dtype}, expected {wanted}")
    text = f"pseShiftOptional has shape {list(shift.shape)}"
    require(
        shift.rank == 4 and shift.shape[0] in (1, found.batch) and shift.shape[1] == found.query.heads,
        f"{text}, expected a batch of 1 or {found.batch}, and {found.query.heads} heads",
    )
    rows = 1 if found.single else found.query.positions
    fits = shift.shape[2] >= rows and shift.shape[3] >= found.reach + prefix
    require(fits, f"{text}, expected last lengths of at least {rows} and {found.reach + prefix}")
