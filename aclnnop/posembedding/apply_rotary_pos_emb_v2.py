"""aclnnApplyRotaryPosEmbV2: queries and keys, rotated in place; axes and pairs as they are named."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Example, IntKind, Plan, Product, StringKind, numbers, operator, require, same_dtype, shape_is, together
from aclnnop.math.unary import FLOATS
from aclnnop.posembedding.apply_rotary_pos_emb import ROW, Angles, Heads
from aclnnop.posembedding.rotation import Mode, fits, turned_in_place

MODES = {"half": Mode.HALF, "interleave": Mode.INTERLEAVE, "quarter": Mode.QUARTER}


class Layout(enum.IntEnum):
    """The axes: batch, positions (S), heads (N), elements."""

    BSND = 1
    SBND = 2
    BNSD = 3


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnApplyRotaryPosEmbV2(
    queryRef: Heads,
    keyRef: Heads,
    cos: Angles,
    sin: Angles,
    layout: Annotated[int, IntKind(choices=Layout)],
    rotaryMode: Annotated[str, StringKind("char*", choices=tuple(MODES))],
) -> Plan:
    """Turn the pairs of elements that ``rotaryMode`` names by the angles of their position."""
    same_dtype(queryRef, keyRef, cos, sin)
    for operand in (queryRef, keyRef, cos, sin):
        require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no length of 0")
    require(queryRef.shape[-1] == ROW, f"queryRef has shape {list(queryRef.shape)}, expected a last length of {ROW}")
    heads = 1 if layout == Layout.BNSD else 2
    one, same = list(queryRef.shape), list(queryRef.shape)
    one[heads], same[heads] = 1, keyRef.shape[heads]
    shape_is(cos, one, "as queryRef, with one head")
    shape_is(keyRef, same, "as queryRef, with any number of heads")
    mode = MODES[rotaryMode]
    for operand in (queryRef, keyRef):
        fits(operand, cos, sin, mode)
    return together([turned_in_place(operand, cos, sin, mode) for operand in (queryRef, keyRef)])


@aclnnApplyRotaryPosEmbV2.example
def examples() -> Iterator[Example]:
    """Every layout and mode."""
    for dtype, layout, mode in zip(FLOATS, Layout, MODES, strict=True):
        heads = 1 if layout == Layout.BNSD else 2
        shapes = [[2, 3, 3, ROW] for _ in range(3)]
        for shape, count in zip(shapes, (4, 2, 1), strict=True):
            shape[heads] = count
        query, key, angles = map(tuple, shapes)
        yield {
            "queryRef": numbers(query, dtype, 1),
            "keyRef": numbers(key, dtype, 2),
            "cos": numbers(angles, dtype, 3),
            "sin": numbers(angles, dtype, 4),
            "layout": int(layout),
            "rotaryMode": mode,
        }
