"""What the newer operators of attention for inference know: more features, latent attention, sinks, masks of trees."""

from acl_emu.core.dtypes import BF16, FLOAT, INT8
from acl_emu.spec import Operand, require, shape_is
from aclnnop.attention.heads import lengths
from aclnnop.attention.inference_inputs import Found, Inputs, side_layout, unpacked_lengths
from aclnnop.attention.inference_kernels import TREE

ROPE_FEATURES = 64
LATENT = 512
"""Features of queries that look at keys of one head, which are values at the same time."""
WITH_ROPES = (128, LATENT)
"""The features that queries may have beside those of a rope."""
PER_TOKEN_HEAD = 3
"""queryQuantMode: a scale for each query and head."""


def check_latent(given: Inputs, found: Found) -> None:
    """Queries, keys and values of INT8 with a scale for each query and head, and one for all keys and for all values."""
    scale = given.query_scale
    assert scale is not None
    text = "dequantScaleQueryOptional is given, expected"
    require(given.query.dtype is INT8 and given.key[0].dtype is INT8, f"{text} query, key and value of INT8")
    require(given.query_mode == PER_TOKEN_HEAD, f"queryQuantMode is {given.query_mode}, expected {PER_TOKEN_HEAD}")
    require(None not in given.ropes and found.query.features == LATENT, f"{text} queryRope and keyRope, and {LATENT} features of query")
    require(
        given.table is not None and given.key[0].rank == 5 and given.block_size == 128,
        f"{text} pages of 128 positions in blocks of features",
    )
    shape = given.query.shape[:-1] if given.in_layout[-1] == "D" else (*given.query.shape[:-1], found.query.heads)
    shape_is(scale, shape, "that of query without features")
    for name in ("keyScale", "valueScale"):
        own = given.scales.get(name)
        require(own is not None and own.size == 1 and own.dtype is FLOAT, f"{text} one scale of FLOAT each for key and value")
    others = [name for name, operand in given.scales.items() if operand is not None and name not in ("keyScale", "valueScale")]
    require(not others, f"{text} null for {', '.join(others)}")


def check_sink(given: Inputs, found: Found) -> None:
    """A score for each head that takes weight: not with everything else."""
    sink = given.sink
    if sink is None:
        return
    shape_is(sink, (found.query.heads,), "one for each head of query")
    require(sink.dtype is given.query.dtype, f"learnableSinkOptional has dtype {sink.dtype}, expected that of query: {given.query.dtype}")
    require(not any(given.scales.values()), "learnableSinkOptional is given, expected no scales")
    plain = given.shift is None and given.prefixes == (None, None) and given.paddings == (None, None)
    require(plain, "learnableSinkOptional is given, expected no position encoding, prefix or padding")


def check_tree(given: Inputs, found: Found, mask: Operand) -> None:
    """A mask of the last keys, one for each query: those that were guessed."""
    plain = given.shift is None and given.prefixes == (None, None) and given.paddings == (None, None) and given.out.dtype is not INT8
    require(plain, f"sparseMode is {TREE}, expected no position encoding, prefix, padding or INT8 out")
    rows = found.query.positions
    shape = (sum(sequence.queries**2 for sequence in found.sequences),) if given.packed else (found.batch, rows, rows)
    shape_is(mask, shape, "a square for each sequence")
    fits = all(sequence.queries <= sequence.keys for sequence in found.sequences)
    require(fits, f"sparseMode is {TREE}, expected no more queries than keys in each sequence")


def check_ropes(given: Inputs, found: Found) -> None:
    """More features of queries and keys: for some widths only, and not with everything else."""
    query, key = given.ropes
    require((query is None) == (key is None), "queryRope and keyRope, expected both or none")
    if query is None or key is None:
        return
    quantised = given.query_scale is not None
    require(quantised or given.query.dtype is not INT8, "queryRope is given, expected null where query has dtype INT8")
    plain = given.shift is None and given.prefixes == (None, None) and given.paddings == (None, None) and len(given.key) == 1
    require(
        plain and (quantised or not any(given.scales.values())),
        "queryRope is given, expected no position encoding, prefix, padding, scale or list of keys",
    )
    own = lengths(query, given.in_layout, found.query.heads)
    other = unpacked_lengths(key, side_layout(key, given), found.key.heads)
    for rope, sizes, like, width in ((query, own, found.query, own.features), (key, other, found.key, other.features)):
        wanted = BF16 if quantised else given.query.dtype
        require(rope.dtype is wanted, f"{rope.name} has dtype {rope.dtype}, expected {wanted}")
        fits = sizes[:3] == like[:3] and width == ROPE_FEATURES
        require(fits, f"{rope.name} has shape {list(rope.shape)}, expected that of query or key with {ROPE_FEATURES} features")
    features = found.query.features
    require(
        features in WITH_ROPES, f"query has {features} features for each head, expected {' or '.join(map(str, WITH_ROPES))} with queryRope"
    )
    latent = features == LATENT
    require(
        not latent or (given.table is not None and found.key.heads == 1),
        "query has 512 features and a queryRope, expected pages with one head",
    )
    require(
        latent or (given.packed and given.table is None),
        "query has 128 features and a queryRope, expected layout TND or NTD_TND without pages",
    )
