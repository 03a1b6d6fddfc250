"""Scales of attention for inference: which there are, for which types, and in which shapes."""

from typing import NamedTuple

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT4, INT8, INT32, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.spec import require
from aclnnop.attention.inference_inputs import Found, Inputs, unpacked_shape
from aclnnop.attention.inference_kernels import Side
from aclnnop.attention.visibility import Sparse


class Row(NamedTuple):
    """A way to give scales of keys and values."""

    mode: int
    kind: str
    shapes: tuple[tuple[str, ...], ...]
    like_query: bool
    """Whether they have the type of the query; else FLOAT."""
    stored: tuple[DType, ...]
    pages: bool = False


PACKED = (INT4, INT32)
"""Numbers of four bits, and eight of them at a time."""
CHANNELS = (("N", "1", "D"), ("N", "D"), ("H",))
SCALINGS = (
    Row(0, "per-tensor", (("1",),), like_query=True, stored=(INT8,)),
    Row(0, "per-channel", (*(("1", *shape) for shape in CHANNELS), *CHANNELS), like_query=True, stored=(INT8, *PACKED)),
    Row(1, "per-token", (("1", "B", "S"), ("B", "S")), like_query=False, stored=(INT8, *PACKED)),
    Row(2, "per-head", (("N",),), like_query=True, stored=(INT8,)),
    Row(3, "per-token-head", (("B", "N", "S"),), like_query=False, stored=(INT8, *PACKED)),
    Row(4, "per-token in pages", (("P", "bs"),), like_query=False, stored=(INT8,), pages=True),
    Row(5, "per-token-head in pages", (("P", "N", "bs"),), like_query=False, stored=(INT8,), pages=True),
)
"""Scales of keys and of values apart, by keyAntiquantMode and valueAntiquantMode."""
MERGED = (
    Row(0, "per-tensor", (("2",),), like_query=True, stored=(INT8,)),
    Row(0, "per-channel", tuple(("2", *shape) for shape in CHANNELS), like_query=True, stored=(INT8,)),
    Row(1, "per-token", (("2", "B", "S"),), like_query=False, stored=(INT8,)),
)
"""Scales of both in one tensor, by antiquantMode."""
MOST_QUERIES = 16
"""With keys and values that have scales of their own."""
SEVERAL = (0, 1)
"""The modes that several queries can have."""


class Quantised(NamedTuple):
    """Which scales a pair of types needs, and which it must not have."""

    query: bool
    """Whether queries, keys and values are INT8; ``out``: the output."""
    out: bool
    needs: tuple[str, ...]
    refuses: tuple[str, ...]


QUANTISED = (
    Quantised(True, True, ("deqScale1", "quantScale1", "deqScale2", "quantScale2"), ()),
    Quantised(True, False, ("deqScale1", "quantScale1", "deqScale2"), ("quantScale2", "quantOffset2")),
    Quantised(False, True, ("quantScale2",), ("deqScale1", "quantScale1", "deqScale2")),
    Quantised(False, False, (), ("deqScale1", "quantScale1", "deqScale2")),
)


def check_scalings(given: Inputs, found: Found, layout: str) -> tuple[Side, Side]:
    """How keys and values that are integers are scaled."""
    scales, dtype = given.scales, given.key[0].dtype
    packed = dtype in PACKED
    kinds: list[tuple[str, int | None]] = [("", None), ("", None)]
    if given.query_scale is not None:
        kinds = [("per-tensor", None), ("per-tensor", None)]
    elif dtype in (INT8, *PACKED) and given.query.dtype is not INT8:
        for word in ("Scale", "Offset"):
            both = (scales.get(f"key{word}") is None) == (scales.get(f"value{word}") is None)
            require(both, f"keyAntiquant{word} and valueAntiquant{word}, expected both or none")
        if scales.get("keyScale") is not None:
            kinds = own_scalings(given, found)
        else:
            half = found.single or given.query.dtype is FLOAT16
            require(
                half,
                f"query has dtype {given.query.dtype}, expected FLOAT16 with several queries and antiquantScale",
            )
            require(not packed, f"key has dtype {dtype}, expected keyAntiquantScale and valueAntiquantScale")
            scale = scales.get("antiScale")
            require(scale is not None, f"key has dtype {dtype}, expected scales: keyAntiquantScale or antiquantScale")
            mode = given.anti_modes[0] if found.single else None
            row = scaling_row(given, found, MERGED, "antiScale", "antiOffset", mode, "antiquantMode")
            kinds = [(row.kind, 0), (row.kind, 1)]
    sides = []
    for name, members, prefix, (kind, merged) in zip(("key", "value"), (given.key, given.value), given.prefixes, kinds, strict=True):
        lying = all(member.contiguous and unpacked_shape(member)[-1] % 2 == 0 for member in members)
        require(not packed or lying, f"{name} has dtype {dtype}, expected contiguous tensors with an even last length")
        shapes = tuple(unpacked_shape(member) for member in members) if packed else ()
        own = unpacked_shape(prefix) if packed and prefix is not None else ()
        sides.append(Side(name, layout, len(members), kind, merged, shapes, own))
    return sides[0], sides[1]


def own_scalings(given: Inputs, found: Found) -> list[tuple[str, int | None]]:
    """The kinds of scales that keys and values have apart."""
    _, key_mode, value_mode = given.anti_modes
    require(
        key_mode == value_mode or (found.single and (key_mode, value_mode) == (0, 1)),
        f"valueAntiquantMode is {value_mode}, expected keyAntiquantMode: {key_mode}",
    )
    if not found.single:
        require(key_mode in SEVERAL, f"keyAntiquantMode is {key_mode}, expected 0 or 1 with several queries")
        types = given.query.dtype, given.key[0].dtype, given.out.dtype
        require(
            types == (BF16, INT8, BF16),
            f"query, key and attentionOut are {', '.join(map(str, types))}, expected BF16, INT8 and BF16 with several queries",
        )
        rows = found.query.positions
        require(rows <= MOST_QUERIES, f"query has {rows} positions, expected at most {MOST_QUERIES} with keyAntiquantScale")
        plain = len(given.key) == 1 and given.table is None and given.paddings == (None, None)
        require(plain, "keyAntiquantScale is given with several queries, expected no list of keys, no padding and no blockTable")
    found_rows = [
        scaling_row(given, found, SCALINGS, f"{name}Scale", f"{name}Offset", mode, f"{name}AntiquantMode")
        for name, mode in (("key", key_mode), ("value", value_mode))
    ]
    return [(row.kind, None) for row in found_rows]


def scaling_row(given: Inputs, found: Found, table: tuple[Row, ...], name: str, offset: str, mode: int | None, parameter: str) -> Row:
    """The row of a table that a tensor of scales fits."""
    scale = given.scales[name]
    assert scale is not None
    modes = sorted({row.mode for row in table})
    require(mode is None or mode in modes, f"{parameter} is {mode}, expected one of {', '.join(map(str, modes))}")
    sizes = {"1": 1, "2": 2, "B": found.batch, "N": found.key.heads, "D": found.key.features, "H": found.key.heads * found.key.features}
    sizes.update({"P": found.key.batch, "bs": given.block_size})
    dtype = given.key[0].dtype
    for row in table:
        if mode in (None, row.mode) and any(fits(scale.shape, shape, sizes, found.reach) for shape in row.shapes):
            break
    else:
        wanted = "; ".join(f"[{', '.join(shape)}]" for row in table if mode in (None, row.mode) for shape in row.shapes)
        raise AclnnInvalid(f"{scale.name} has shape {list(scale.shape)}, expected one of {wanted}")
    require(not row.pages or given.table is not None, f"{parameter} is {row.mode}, expected a blockTable with it")
    require(dtype in row.stored, f"key has dtype {dtype}, expected {', '.join(map(str, row.stored))} where scales are {row.kind}")
    type_wanted = given.query.dtype if row.like_query else FLOAT
    require(scale.dtype is type_wanted, f"{scale.name} has dtype {scale.dtype}, expected {type_wanted} where scales are {row.kind}")
    other = given.scales.get(offset)
    if other is not None:
        require(
            other.shape == scale.shape and other.dtype is scale.dtype,
            f"{other.name} is {list(other.shape)} of {other.dtype}, expected shape and dtype of {scale.name}",
        )
    return row


def fits(shape: tuple[int, ...], names: tuple[str, ...], sizes: dict[str, int], reach: int) -> bool:
    """Whether a shape is one that is spelled in letters; S holds at least all positions."""
    return len(shape) == len(names) and all(
        length >= reach if name == "S" else length == sizes[name] for length, name in zip(shape, names, strict=True)
    )


def check_quantised(given: Inputs, found: Found, prefix: int) -> None:
    """The scales of INT8 in and out."""
    if given.query_scale is not None:
        return
    query, out = given.query.dtype is INT8, given.out.dtype is INT8
    (rule,) = (row for row in QUANTISED if (row.query, row.out) == (query, out))
    types = f"query has dtype {given.query.dtype} and attentionOut {given.out.dtype}"
    for name in rule.needs:
        require(given.scales.get(name) is not None, f"{name}Optional is null, expected a scale where {types}")
    if query or out:
        layout = given.newest or not given.packed
        require(layout, f"inputLayout is {given.layout}, expected one with a batch where {types}")
        band = out and not found.single and given.mode == Sparse.BAND
        require(not band or min(given.before, given.after) >= 0, f"preTokens or nextTokens is negative, expected neither where {types}")
    for name in ("deqScale1", "quantScale1", "deqScale2"):
        single = given.scales.get(name)
        require(single is None or single.size == 1, f"{name} has another number of elements than 1")
    for name in rule.refuses:
        require(given.scales.get(name) is None, f"{name}Optional is given, expected null where {types}")
    scale, offset = given.scales.get("quantScale2"), given.scales.get("quantOffset2")
    if out and scale is not None:
        features = found.query.heads * found.value.features
        require(
            scale.size in (1, features), f"quantScale2Optional has {scale.size} elements, expected 1 or {features}: heads times features"
        )
        require(
            scale.dtype is FLOAT or given.query.dtype is BF16,
            f"quantScale2Optional has dtype {scale.dtype}, expected FLOAT where query has dtype {given.query.dtype}",
        )
        packed = given.key[0].dtype in PACKED
        require(not packed, f"attentionOut has dtype INT8, expected another where key has dtype {given.key[0].dtype}")
        if offset is not None:
            same = offset.shape == scale.shape and offset.dtype is scale.dtype
            require(
                same, f"quantOffset2Optional is {list(offset.shape)} of {offset.dtype}, expected shape and dtype of quantScale2Optional"
            )
            check_rows(given, found, prefix)


def check_rows(given: Inputs, found: Found, prefix: int) -> None:
    """With an offset of the output every query sees a key: one that sees none would give 0 and not the offset."""
    if found.single or given.mask is None:
        return
    for sequence in found.sequences:
        more = sequence.keys + prefix - sequence.queries
        blind = {
            Sparse.DEFAULT: more + given.before < 0 or given.after < 0,
            Sparse.RIGHT_DOWN_CAUSAL: more < 0,
            Sparse.BAND: given.after + more < 0,
        }
        require(
            not blind.get(Sparse(given.mode), False),
            f"quantOffset2Optional is given, expected null where queries see no key: sparseMode {given.mode}, preTokens {given.before}, "
            f"nextTokens {given.after}, {sequence.queries} queries and {sequence.keys + prefix} keys",
        )
