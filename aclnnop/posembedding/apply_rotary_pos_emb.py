"""aclnnApplyRotaryPosEmb: queries and keys, rotated in place by the angles of their positions."""

import enum
from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Example, In, InOut, IntKind, Operand, Plan, Product, numbers, operator, require, same_dtype, shape_is, together
from aclnnop.math.unary import FLOATS
from aclnnop.posembedding.rotation import Mode, fits, turned_in_place

Heads = Annotated[Operand, InOut(*FLOATS, rank=4, const=False)]
Angles = Annotated[Operand, In(*FLOATS, rank=4)]
ROW = 128


class Layout(enum.IntEnum):
    """What the axes are; this form knows batch, positions, heads, elements."""

    BSND = 1


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnApplyRotaryPosEmb(
    queryRef: Heads, keyRef: Heads, cos: Angles, sin: Angles, layout: Annotated[int, IntKind(choices=Layout)]
) -> Plan:
    """Turn the halves of every row of queries and keys by the angles of its position."""
    same_dtype(queryRef, keyRef, cos, sin)
    batch, positions, _, length = queryRef.shape
    require(length == ROW, f"queryRef has shape {list(queryRef.shape)}, expected a last length of {ROW}")
    for operand in (queryRef, keyRef, cos, sin):
        require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no length of 0")
    shape_is(cos, (batch, positions, 1, length), "as queryRef, with one head")
    shape_is(keyRef, (batch, positions, keyRef.shape[2], length), "as queryRef, with any number of heads")
    for heads in (queryRef, keyRef):
        fits(heads, cos, sin, Mode.HALF)
    return together([turned_in_place(heads, cos, sin, Mode.HALF) for heads in (queryRef, keyRef)])


@aclnnApplyRotaryPosEmb.example
def examples() -> Iterator[Example]:
    """More heads of queries than of keys."""
    for dtype in FLOATS:
        yield {
            "queryRef": numbers((2, 3, 4, ROW), dtype, 1),
            "keyRef": numbers((2, 3, 2, ROW), dtype, 2),
            "cos": numbers((2, 3, 1, ROW), dtype, 3),
            "sin": numbers((2, 3, 1, ROW), dtype, 4),
            "layout": 1,
        }
