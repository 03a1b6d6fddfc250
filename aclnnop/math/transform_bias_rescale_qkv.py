"""aclnnTransformBiasRescaleQkv: queries, keys and values for each head of an attention, with their biases."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine import apply
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, direct, nothing, numbers, operator, require, same_dtype, shape_is
from aclnnop.math.unary import NEWER

FLOATS = (BF16, FLOAT16, FLOAT)
HeadsOut = Annotated[Operand, Out(*FLOATS, rank=4, const=True)]


@operator(products=NEWER)
def aclnnTransformBiasRescaleQkv(
    qkv: Annotated[Operand, In(*FLOATS, rank=3)],
    qkvBias: Annotated[Operand, In(*FLOATS, rank=1)],
    numHeads: Int,
    qOut: HeadsOut,
    kOut: HeadsOut,
    vOut: HeadsOut,
) -> Plan:
    """Add the biases, divide the queries by the root of a head's length, and put the heads in front of the sequence."""
    same_dtype(qkv, qkvBias, qOut, kOut, vOut)
    require(numHeads > 0, f"numHeads is {numHeads}, expected a value above 0")
    batch, steps, width = qkv.shape
    require(
        width % (3 * numHeads) == 0,
        f"qkv has shape {list(qkv.shape)}, expected its last dimension to be a multiple of 3 numHeads: {3 * numHeads}",
    )
    shape_is(qkvBias, (width,), "as the last dimension of qkv")
    for out in (qOut, kOut, vOut):
        shape_is(out, (batch, numHeads, steps, width // 3 // numHeads), "of the heads")
    if qOut.size == 0:
        return nothing()
    return direct(split_up, reads=(qkv, qkvBias), writes=(qOut, kOut, vOut), scratch={})


def split_up(qkv: Array, bias: Array, *outs: Array) -> None:
    """All queries come before all keys, and these before all values."""
    batch, heads, steps, length = outs[0].shape
    parts = qkv.reshape(batch, steps, 3, heads, length).transpose(2, 0, 3, 1, 4)
    biases = bias.reshape(3, heads, 1, length)
    for part, own, out, divisor in zip(parts, biases, outs, (math.sqrt(length), 1.0, 1.0), strict=True):
        apply(shifted, [part, np.broadcast_to(own, part.shape)], [out], divisor=divisor)


def shifted(x: Array, bias: Array, *, divisor: float) -> Array:
    """The formula."""
    found: Array = (x + bias) / np.float32(divisor)
    return found


@aclnnTransformBiasRescaleQkv.example
def examples() -> Iterator[Example]:
    """Each type."""
    for dtype in FLOATS:
        outs = {name: numbers((2, 3, 5, 4), dtype, seed) for seed, name in enumerate(("qOut", "kOut", "vOut"))}
        yield {"qkv": numbers((2, 5, 36), dtype, 1), "qkvBias": numbers((36,), dtype, 2), "numHeads": 3, **outs}
