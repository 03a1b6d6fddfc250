"""Attention for training: the parameters that its operators share, their rules, and the plans of both directions."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated

import numpy as np

from acl_emu.core.constants import ACLNN_ERR_INNER_NULLPTR
from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, UINT8
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    HandleKind,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    require,
    same_dtype,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.attention import softmax_gradient
from aclnnop.attention.heads import Lengths, lengths, shape_in
from aclnnop.attention.online_softmax import blocks_for, scratch_for
from aclnnop.attention.scores import COMPRESSED_ROWS
from aclnnop.attention.training_kernels import Sequence, Setting, backward_kernel, forward_kernel
from aclnnop.attention.visibility import COMPRESSED, PREFIX_ROWS, TRIANGLE, Sparse

PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})
COPIES = 8
"""How often maximum and sum are stored."""

Floats = Annotated[Operand, In(FLOAT16, BF16, FLOAT)]
OptionalFloats = Annotated[Operand | None, In(FLOAT16, BF16, FLOAT, optional=True)]
OptionalStatistic = Annotated[Operand | None, In(FLOAT, optional=True)]
DropMask = Annotated[Operand | None, In(UINT8, optional=True)]
AttenMask = Annotated[Operand | None, In(BOOL, UINT8, optional=True)]
Unused = Annotated[Operand | None, In(optional=True)]
UnusedOut = Annotated[Operand | None, Out(optional=True, const=True)]
FloatsOut = Annotated[Operand, Out(FLOAT16, BF16, FLOAT, const=True)]
StatisticOut = Annotated[Operand, Out(FLOAT, const=True)]
Numbers = Annotated[IntArray | None, HandleKind(IntArray, optional=True)]
Layout = Annotated[str, StringKind("char*", choices=("BSH", "SBH", "BSND", "BNSD"))]
BFloats = Annotated[Operand, In(BF16)]
OptionalBFloats = Annotated[Operand | None, In(BF16, optional=True)]
BFloatsOut = Annotated[Operand, Out(BF16, const=True)]
OptionalBFloatsOut = Annotated[Operand | None, Out(BF16, optional=True, const=True)]
Packed = Annotated[str, StringKind("char*", choices=("TND",))]
StatisticLayout = Annotated[str | None, StringKind("char*", optional=True, choices=("", "same_as_input"))]

MASKS = (("B", "N", "Sq", "Skv"), ("B", "1", "Sq", "Skv"), ("1", "1", "Sq", "Skv"), ("Sq", "Skv"))
"""The shapes of a mask that is not compressed."""
PREFIX_MASKS = MASKS[:2]
SHIFTS = (("B", "N", "Sq", "Skv"), ("B", "N", "1", "Skv"), ("1", "N", "Sq", "Skv"))
"""The shapes of a position encoding."""
LAST_ROWS = (("B", "N", "H", "Skv"), ("1", "N", "H", "Skv"))
"""Those of its last rows, for long sequences with a lower triangle."""
SLOPES = (("B", "N"), ("N",))
"""Those of what it is made of, for pseType 2 and 3."""
FEATURES_OF_ROPES = 8
"""A number of which the features are multiples, where there are more of them for positions."""
TRIANGULAR = (Sparse.DEFAULT, Sparse.LEFT_UP_CAUSAL, Sparse.RIGHT_DOWN_CAUSAL)
DENSE_MODES = range(Sparse.RIGHT_DOWN_CAUSAL_BAND)
PACKED_MODES = tuple(mode for mode in Sparse if mode is not Sparse.PREFIX)


@dataclass(frozen=True)
class Inputs:
    """What both directions get."""

    query: Operand
    key: Operand
    value: Operand
    shift: Operand | None
    drop: Operand | None
    mask: Operand | None
    prefix: IntArray | None
    scale: float
    keep: float
    before: int
    after: int
    heads: int
    layout: str
    mode: int
    packed: tuple[IntArray | None, IntArray | None] | None = None
    """The ends of the sequences that follow each other in T, of queries and of keys."""
    shift_type: int = 1
    starts: tuple[IntArray | None, IntArray | None] = (None, None)
    ropes: tuple[Operand, ...] = ()
    """More features of queries and of keys."""


def in_kernel() -> AbstractContextManager[None]:
    """Rules that the library leaves to the kernel's tiling, which reports 561103 here."""
    return in_tiling(ACLNN_ERR_INNER_NULLPTR)


def without_empty(given: Inputs) -> Inputs:
    """What may be null may be empty, too."""
    shift, drop, mask = (operand if operand is not None and operand.size else None for operand in (given.shift, given.drop, given.mask))
    return replace(given, shift=shift, drop=drop, mask=mask)


def checked(given: Inputs) -> tuple[Setting, Lengths, Lengths, Lengths]:
    """Check what both directions share; returns it with the lengths of queries, keys and values."""
    same_dtype(given.query, given.key, given.value, *given.ropes)
    if given.shift is not None and given.shift_type < 2:
        same_dtype(given.query, given.shift)
    require(given.heads > 0, f"headNum is {given.heads}, expected a value above 0")
    query = lengths(given.query, given.layout, given.heads)
    require(query.heads == given.heads, f"headNum is {given.heads}, expected the heads of query: {query.heads}")
    require(query.features > 0, f"query has shape {list(given.query.shape)}, expected at least one feature for each head")
    key_heads = given.key.shape[-1] // query.features if given.layout[-1] == "H" and given.key.rank else 0
    key = lengths(given.key, given.layout, key_heads)
    value = lengths(given.value, given.layout, key.heads)
    text = f"query {list(given.query.shape)}, key {list(given.key.shape)}, value {list(given.value.shape)}"
    require(key.features == query.features, f"key has {key.features} features for each head, expected those of query: {text}")
    fits = 0 < value.features <= key.features
    require(fits, f"value has {value.features} features for each head, expected 1 to those of key: {text}")
    require(query.batch == key.batch, f"key has a batch of {key.batch}, expected that of query: {text}")
    require(value[:3] == key[:3], f"value has another batch, number of heads or length than key: {text}")
    require(key.heads > 0 and query.heads % key.heads == 0, f"query has {query.heads} heads, expected a multiple of those of key: {text}")
    for rope, sizes in zip(given.ropes, (query, key), strict=False):
        own = lengths(rope, given.layout, sizes.heads)
        require(own[:3] == sizes[:3], f"{rope.name} has shape {list(rope.shape)}, expected that of query or key but for its features")
    with in_kernel():
        sequences = sequences_of(given, query, key)
        longest = [max((sequence.lengths[side] for sequence in sequences), default=0) for side in (0, 1)]
        named = {"B": len(sequences), "N": query.heads, "Sq": longest[0], "Skv": longest[1], "H": COMPRESSED_ROWS, "1": 1}
        scores = sum(query.heads * rows * columns for rows, columns in (sequence.lengths for sequence in sequences))
        check_mode(given, sequences)
        check_mask(given, named)
        check_shift(given, named, scores)
        check_drop(given, scores)
    blocks = blocks_for(key.heads, query.heads // key.heads, *longest)
    return (
        Setting(
            given.layout,
            query.heads,
            key.heads,
            sequences,
            blocks,
            given.scale,
            given.keep,
            given.mode,
            given.before,
            given.after,
            tuple(given.prefix.values) if given.prefix is not None else (),
            given.shift_type,
            _first(given.starts[0]) - _first(given.starts[1]),
        ),
        query,
        key,
        value,
    )


def _first(start: IntArray | None) -> int:
    return start.values[0] if start is not None and len(start.values) else 0


def sequences_of(given: Inputs, query: Lengths, key: Lengths) -> tuple[Sequence, ...]:
    """The sequences of a batch, or those that follow each other in T."""
    if given.packed is None:
        return tuple(Sequence(batch, (0, query.positions), (0, key.positions)) for batch in range(query.batch))
    ends = []
    for name, array, positions in zip(("actualSeqQLen", "actualSeqKvLen"), given.packed, (query.positions, key.positions), strict=True):
        require(array is not None, f"{name}Optional is null, expected the ends of the sequences for layout TND")
        values = array.values if array is not None else ()
        used = len(values) - next((place for place, end in enumerate(reversed(values)) if end), len(values))
        rising = all(first <= second for first, second in pairwise((0, *values[:used])))
        require(
            bool(values) and rising and max(values) <= positions,
            f"{name}Optional is {list(values)}, expected ends of sequences that rise to at most {positions}, and zeros behind them",
        )
        ends.append((*values[:used], *[max(values)] * (len(values) - used)))
    require(
        len(ends[0]) == len(ends[1]),
        f"actualSeqQLenOptional has {len(ends[0])} elements, expected as many as actualSeqKvLenOptional: {len(ends[1])}",
    )
    return tuple(Sequence(0, *parts) for parts in zip(pairwise((0, *ends[0])), pairwise((0, *ends[1])), strict=True))


def check_mode(given: Inputs, sequences: tuple[Sequence, ...]) -> None:
    """What sparseMode, tokens, prefix and keepProb may be."""
    modes = DENSE_MODES if given.packed is None else PACKED_MODES
    require(given.mode in modes, f"sparseMode is {given.mode}, expected one of {', '.join(str(int(mode)) for mode in modes)}")
    require(given.shift_type in range(4), f"pseType is {given.shift_type}, expected 0, 1, 2 or 3")
    require(0 < given.keep <= 1, f"keepProb is {given.keep}, expected a value above 0 and at most 1")
    if given.mask is None:
        return
    if given.mode in (Sparse.DEFAULT, Sparse.BAND):
        text = f"preTokens is {given.before} and nextTokens is {given.after}"
        require(given.before + given.after >= 0, f"{text}, expected a band that holds something")
    if given.mode == Sparse.DEFAULT and given.packed is None:
        rows, columns = sequences[0].lengths if sequences else (0, 0)
        require(given.after > -max(columns, 1), f"{text}, expected nextTokens above {-columns} for as many keys")
        require(given.before > -max(rows, 1), f"{text}, expected preTokens above {-rows} for as many queries")
    if given.mode in (Sparse.PREFIX, Sparse.PREFIX_COMPRESSED):
        prefix = given.prefix.values if given.prefix is not None else ()
        require(
            len(prefix) == len(sequences), f"prefixOptional has {len(prefix)} elements, expected one for each of {len(sequences)} sequences"
        )
        for length, (rows, columns) in zip(prefix, (sequence.lengths for sequence in sequences), strict=True):
            least = max(columns - rows, 0)
            require(least <= length <= columns, f"prefixOptional is {list(prefix)}, expected values from {least} to {columns}")


def check_ropes(given: Inputs, query_rope: Operand | None, key_rope: Operand | None) -> tuple[Operand, ...]:
    """What the operators with more features of queries and keys ask for; returns these features."""
    with in_kernel():
        require((query_rope is None) == (key_rope is None), "queryRope and keyRope, expected both or none")
        require(given.shift is None, "a position encoding is given, expected null")
        require(given.drop is None and given.keep == 1, f"keepProb is {given.keep}, expected 1, and no dropMaskOptional")
        require(given.mask is not None, "attenMaskOptional is null, expected a mask")
        require(given.shift_type == 1, f"pseType is {given.shift_type}, expected 1")
        for operand in filter(None, (given.query, query_rope, key_rope)):
            width = operand.shape[-1] if operand.rank else 0
            require(width % FEATURES_OF_ROPES == 0, f"{operand.name} has {width} features, expected a multiple of {FEATURES_OF_ROPES}")
    if query_rope is None or key_rope is None:
        return ()
    widths = (query_rope.shape[-1:], key_rope.shape[-1:])
    require(
        widths[0] == widths[1],
        f"{key_rope.name} has shape {list(key_rope.shape)}, expected the features of queryRope: {list(query_rope.shape)}",
    )
    require(
        query_rope.shape[-1:] <= given.query.shape[-1:],
        f"queryRope has shape {list(query_rope.shape)}, expected at most the features of query: {list(given.query.shape)}",
    )
    return query_rope, key_rope


def rope_outputs(given: Inputs, query_rope: Operand | None, key_rope: Operand | None) -> tuple[Operand, ...]:
    """Where the gradients of more features go, which are there as these are."""
    if not given.ropes:
        return ()
    with in_kernel():
        require(query_rope is not None and key_rope is not None, "dqRopeOut and dkRopeOut, expected both with queryRope and keyInRope")
    return tuple(filter(None, (query_rope, key_rope)))


def named_shapes(names: tuple[tuple[str, ...], ...], sizes: dict[str, int]) -> list[tuple[int, ...]]:
    """Shapes that are spelled in letters."""
    return [tuple(sizes[name] for name in shape) for shape in names]


def check_shape(operand: Operand, names: tuple[tuple[str, ...], ...], sizes: dict[str, int]) -> None:
    """One of the shapes, spelled in letters."""
    text = ", ".join(f"[{', '.join(shape)}]" for shape in names)
    where = ", ".join(f"{name}={length}" for name, length in sizes.items() if name != "1")
    require(
        operand.shape in named_shapes(names, sizes), f"{operand.name} has shape {list(operand.shape)}, expected one of {text} with {where}"
    )


def check_mask(given: Inputs, sizes: dict[str, int]) -> None:
    """The shape of a mask: compressed, or that of the scores."""
    mask = given.mask
    if mask is None:
        return
    if given.mode in COMPRESSED:
        rows = PREFIX_ROWS if given.mode == Sparse.PREFIX_COMPRESSED else TRIANGLE
        fits = mask.shape[-2:] == (rows, TRIANGLE) and mask.size == rows * TRIANGLE
        require(fits, f"{mask.name} has shape {list(mask.shape)}, expected [{rows}, {TRIANGLE}] in sparseMode {given.mode}")
    elif given.packed is None:
        check_shape(mask, PREFIX_MASKS if given.mode == Sparse.PREFIX else MASKS, sizes)
    else:
        fits = mask.rank in (2, 4) and mask.shape[:-2] in (
            (),
            *((first, second) for first in (1, sizes["B"]) for second in (1, sizes["N"])),
        )
        reaches = mask.rank >= 2 and mask.shape[-2] >= sizes["Sq"] and mask.shape[-1] >= sizes["Skv"]
        require(
            fits and reaches, f"{mask.name} has shape {list(mask.shape)}, expected the last lengths to hold the longest sequences: {sizes}"
        )


def check_shift(given: Inputs, sizes: dict[str, int], scores: int) -> None:
    """Type and shape of a position encoding."""
    shift = given.shift
    if shift is None:
        require(given.shift_type < 2, f"pseType is {given.shift_type}, expected 0 or 1 without a position encoding")
        return
    square = sizes["Sq"] == sizes["Skv"]
    if given.shift_type >= 2:
        require(shift.dtype is FLOAT, f"{shift.name} has dtype {shift.dtype}, expected FLOAT for pseType {given.shift_type}")
        require(square, f"pseType is {given.shift_type}, expected as many queries as keys: {sizes['Sq']} and {sizes['Skv']}")
        check_shape(shift, SLOPES, sizes)
        return
    modes_without = (Sparse.RIGHT_DOWN_CAUSAL_BAND,)
    require(given.mode not in modes_without or given.mask is None, f"{shift.name} is given, expected null in sparseMode {given.mode}")
    compressible = sizes["Sq"] > COMPRESSED_ROWS and square and given.mode in TRIANGULAR
    if given.packed is None:
        check_shape(shift, SHIFTS + (LAST_ROWS if compressible else ()), sizes)
    elif shift.rank == 1:
        require(shift.size == scores, f"{shift.name} has {shift.size} elements, expected {scores}: those of the scores of all sequences")
    else:
        check_shape(shift, LAST_ROWS, sizes)


def check_drop(given: Inputs, bits: int) -> None:
    """Where weights are dropped, there is a bit for each of them."""
    if given.keep < 1:
        count = 0 if given.drop is None else given.drop.size
        require(
            count * 8 >= bits,
            f"dropMaskOptional has {count} bytes, expected a bit for each of {bits} weights where keepProb is {given.keep}",
        )


def attention(given: Inputs, maximum: Operand, total: Operand, out: Operand, *, statistics: str = "BNS") -> Plan:
    """The plan of the forward pass; ``statistics`` are the axes that maximum and sum are stored in, NS and SN without a batch."""
    given = without_empty(given)
    same_dtype(given.query, out)
    setting, query, key, value = checked(given)
    shape_is(out, shape_in(given.layout, query._replace(features=value.features)), "that of query, with the features of value")
    for operand in (maximum, total):
        check_statistic(operand, query, packed=given.packed is not None)
    if query.batch * query.positions == 0:
        return nothing()
    features = query.features + sum(rope.shape[-1] for rope in given.ropes[:1])
    return direct(
        forward_kernel,
        reads=(given.query, given.key, given.value, *_two(given.ropes), given.shift, given.drop, given.mask),
        writes=(maximum, total, out),
        scratch={
            **scratch_for(setting.blocks, query.heads // key.heads, features, value.features),
            "largest": (query[:3], np.float32),
            "sums": (query[:3], np.float32),
        },
        setting=setting,
        statistics=statistics,
    )


def _two(ropes: tuple[Operand, ...]) -> tuple[Operand | None, Operand | None]:
    return (ropes[0], ropes[1]) if ropes else (None, None)


def check_statistic(operand: Operand, query: Lengths, *, packed: bool) -> None:
    """The shape of maximum and sum: without a batch, heads may come first or second."""
    if packed and operand.shape == (query.heads, query.positions, COPIES):
        return
    shape = (query.positions, query.heads, COPIES) if packed else (*query[:3], COPIES)
    shape_is(operand, shape, "a row of 8 for each head and query")


def gradient(
    given: Inputs,
    slope: Operand,
    statistics: tuple[Operand | None, Operand | None],
    output: Operand | None,
    writes: tuple[Operand, Operand, Operand],
    rope_writes: tuple[Operand, ...] = (),
    *,
    axes: str = "BNS",
) -> Plan:
    """The plan of the backward pass."""
    given = without_empty(given)
    same_dtype(given.query, slope, *writes, *rope_writes)
    setting, query, key, value = checked(given)
    shape = shape_in(given.layout, query._replace(features=value.features))
    shape_is(slope, shape, "that of query, with the features of value")
    with in_kernel():
        for name, operand in (
            ("softmaxMaxOptional", statistics[0]),
            ("softmaxSumOptional", statistics[1]),
            ("attentionInOptional", output),
        ):
            require(operand is not None, f"{name} is null, expected what the forward pass left")
        for operand in filter(None, statistics):
            check_statistic(operand, query, packed=given.packed is not None)
        if output is not None:
            same_dtype(given.query, output)
            shape_is(output, shape, "as dy")
        for target, source in zip((*writes, *rope_writes), (given.query, given.key, given.value, *given.ropes), strict=True):
            shape_is(target, source.shape, f"that of {source.name}")
    if all(operand.size == 0 for operand in writes):
        return nothing()
    longest = max(sequence.lengths[1] for sequence in setting.sequences)
    features = query.features + sum(rope.shape[-1] for rope in given.ropes[:1])
    return direct(
        backward_kernel,
        reads=(
            *(given.query, given.key, given.value, *_two(given.ropes), given.shift, given.drop, given.mask),
            *(slope, *statistics, output),
        ),
        writes=(*writes, *_two(rope_writes)),
        scratch=softmax_gradient.scratch_for(setting.blocks, query.heads // key.heads, longest, features, value.features),
        setting=setting,
        axes=axes,
    )
