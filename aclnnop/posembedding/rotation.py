"""Pairs of elements of a row, rotated by an angle: how the modes pair them, and the plans of embeddings and gradients.

Every mode pairs elements that are equally far apart; parts of rows are views, so that a turn is arithmetic over whole arrays.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import Array, Operand, Plan, Product, broadcasts_to, mapped, require, same_shape, together
from aclnnop.norm.views import slice_of

Pair = tuple[Operand, Operand]


class Mode(enum.IntEnum):
    """Which elements of a row are rotated together."""

    HALF = 0
    INTERLEAVE = 1
    QUARTER = 2
    INTERLEAVE_HALF = 3


MODES = {Product.A950: tuple(Mode), Product.A310P: (Mode.HALF,)}
"""What a product has; the others have the first two."""


def modes_here() -> tuple[Mode, ...]:
    """What the chip has."""
    return MODES.get(soc.current().product, (Mode.HALF, Mode.INTERLEAVE))


def halves(operand: Operand) -> Pair:
    """The first half of every row, and the second."""
    length = operand.shape[-1] // 2
    return slice_of(operand, -1, 0, length), slice_of(operand, -1, length, length)


def neighbours(operand: Operand) -> Pair:
    """Every other element, from the first and from the second on."""
    length = operand.shape[-1] // 2
    return slice_of(operand, -1, 0, length, 2), slice_of(operand, -1, 1, length, 2)


def quarters(operand: Operand) -> Pair:
    """The first halves of both halves of every row, and the second ones: rows of two axes."""
    length = operand.shape[-1] // 4
    step = operand.view.strides[-1]
    both = operand.in_view((*operand.shape[:-1], 2, 2, length), (*operand.view.strides[:-1], 2 * length * step, length * step, step))
    return slice_of(both, -2, 0, 1), slice_of(both, -2, 1, 1)


PAIRED: dict[Mode, tuple[Callable[[Operand], Pair], Callable[[Operand], Pair]]] = {
    Mode.HALF: (halves, halves),
    Mode.INTERLEAVE: (neighbours, neighbours),
    Mode.QUARTER: (quarters, quarters),
    Mode.INTERLEAVE_HALF: (neighbours, halves),
}
"""How a mode pairs elements, and where their rotated ones, and the angles, are."""


def turned_first(x1: Array, x2: Array, cos: Array, sin: Array) -> Array:
    """The first of a pair."""
    rotated: Array = x1 * cos - x2 * sin
    return rotated


def turned_second(x1: Array, x2: Array, cos: Array, sin: Array) -> Array:
    """The second of a pair."""
    rotated: Array = x2 * cos + x1 * sin
    return rotated


def both_turned(x1: Array, x2: Array, cos1: Array, cos2: Array, sin1: Array, sin2: Array) -> tuple[Array, Array]:
    """Both of a pair, before either is stored: for results in place."""
    return turned_first(x1, x2, cos1, sin1), turned_second(x1, x2, cos2, sin2)


def fits(x: Operand, cos: Operand, sin: Operand, mode: Mode) -> None:
    """Rows of even length, or of one that 4 divides; angles that broadcast along the other axes."""
    same_shape(cos, sin)
    parts = 4 if mode is Mode.QUARTER else 2
    require(
        x.shape[-1] % parts == 0 and x.shape[-1] == cos.shape[-1],
        f"{x.name} has shape {list(x.shape)}, expected a last length that {parts} divides, as long as that of {cos.name}: {cos.shape[-1]}",
    )
    require(x.rank == cos.rank, f"{cos.name} has {cos.rank} dimensions, expected as many as {x.name}: {x.rank}")
    broadcasts_to(x.shape, f"that of {x.name}", cos)


def rotated(x: Operand, cos: Operand, sin: Operand, out: Operand, mode: Mode) -> Plan:
    """``out`` becomes the rows of ``x``, rotated."""
    take, give = PAIRED[mode]
    pairs = zip((turned_first, turned_second), give(cos), give(sin), give(out), strict=True)
    return together(
        [mapped(kernel, reads=(*take(x), c, s), writes=(target,), dtype=FLOAT, raw=(target,)) for kernel, c, s, target in pairs]
    )


def turned_in_place(x: Operand, cos: Operand, sin: Operand, mode: Mode) -> Plan:
    """The rows of ``x`` become their rotated ones."""
    take, give = PAIRED[mode]
    targets = give(x)
    return mapped(both_turned, reads=(*take(x), *give(cos), *give(sin)), writes=targets, dtype=FLOAT, raw=targets)
