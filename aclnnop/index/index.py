"""aclnnIndex: the elements that index tensors and masks choose."""

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    In,
    ListOf,
    Operand,
    Out,
    Plan,
    Product,
    broadcast_shape,
    mapped,
    nothing,
    numbers,
    operator,
    same_dtype,
    shape_is,
)
from aclnnop.index.chosen import as_rows, covered_axes, first_axes, places
from aclnnop.index.gathering import gathered
from aclnnop.index.places import within

TYPES = (FLOAT, FLOAT16, BF16, DOUBLE, INT32, INT64, INT16, INT8, UINT8, BOOL)
REAL = dict.fromkeys((Product.A910, Product.A310P, Product.A3, Product.A2), TYPES)


@operator(products=ALL)
def aclnnIndex(
    self: Annotated[Operand, In(*TYPES, COMPLEX64, on=REAL)],
    indices: Annotated[list[Operand | None], ListOf(In(optional=True))],
    out: Annotated[Operand, Out(*TYPES, COMPLEX64, on=REAL)],
) -> Plan:
    """Take the elements of ``self`` that ``indices`` choose: one member for each dimension, null for all of it, masks for several."""
    same_dtype(self, out)
    self, members = as_rows(self, indices)
    axes = first_axes(self, members)
    if 0 in out.shape:  # an index of shape [0] may be one, or stand for null: either is nothing to do here
        return nothing()
    chosen = chosen_shape(self, members, axes, out)
    shape_is(out, chosen.shape, "of what indices choose from self")
    given = [(axis, member) for axis, member in zip(axes, members, strict=True) if member is not None]
    if len(given) == 1 and given[0][1].dtype is not BOOL:
        (axis, index) = given[0]
        return gathered(self, index, out, axis, negative=True)
    return mapped(
        taken,
        reads=(self, *members),
        writes=(out,),
        dtype=self.dtype,
        raw=(self, *filter(None, members), out),
        axes=axes,
        names=tuple(member.name if member else "" for member in members),
        least=chosen.least,
        length=chosen.length,
    )


@aclnnIndex.example
def examples() -> Iterator[Example]:
    """Indices for all dimensions and for some, negative ones, null in front and between, masks of one dimension and of two."""
    mask = np.arange(12).reshape(3, 4) % 5 == 0
    calls = (
        (FLOAT, [places(3, (2,)), places(4, (2,)), places(5, (2,))], (2,)),
        (BF16, [None, places(4, (2, 3))], (3, 2, 3, 5)),
        (INT64, [places(3, (2, 1)), None, places(5, (3,))], (2, 3, 4)),
        (BOOL, [mask], (3, 5)),
        (DOUBLE, [mask[:, 1:2].ravel() | True, places(4, (3,))], (3, 5)),
        (UINT8, [None, mask[0] | True], (3, 4, 5)),
    )
    for dtype, indices, shape in calls:
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "indices": indices, "out": numbers(shape, dtype, 2)}


class Chosen(NamedTuple):
    """What phase one knows of the result."""

    shape: tuple[int, ...]
    least: int
    """The length that masks share with the last dimension of the indices: 1, or one that is given."""
    length: int
    """The length of that dimension in the result."""


def chosen_shape(self: Operand, members: Sequence[Operand | None], axes: Sequence[int], out: Operand) -> Chosen:
    """How many elements a mask chooses nobody knows yet: ``out`` says how many it should be.

    What the indices broadcast to takes the place of the dimensions that they choose from; it comes first where these are not neighbours.
    """
    covered, before = covered_axes(members, axes)
    integers = [member for member in members if member is not None and member.dtype is not BOOL]
    masks = [member for member in members if member is not None and member.dtype is BOOL]
    common = list(broadcast_shape(*integers)) if integers else []
    left = [length for axis, length in enumerate(self.shape) if axis not in covered]
    least = common[-1] if common else 1
    if masks:
        common = common or [1]
        place = before + len(common) - 1
        if least == 1:
            common[-1] = out.shape[place] if out.rank == len(left) + len(common) else 1
    return Chosen((*left[:before], *common, *left[before:]), least, common[-1] if masks else 0)


def taken(values: Array, *members: Array | None, axes: tuple[int, ...], names: tuple[str, ...], least: int, length: int) -> Array:
    """As numpy indexes; what would be outside, or not fit ``out``, is a fault."""
    lengths = {least}
    for member, axis, name in zip(members, axes, names, strict=True):
        if member is None:
            continue
        if member.dtype == np.bool_:
            lengths.add(int(np.count_nonzero(member)))
            continue
        within(member, values.shape[axis], name, negative=True)
    if length and (lengths - {1} or {1}) != {length}:
        raise DeviceFault(f"the masks in indices choose {' and '.join(map(str, sorted(lengths - {1}))) or 1} elements, out holds {length}")
    found: Array = values[tuple(slice(None) if member is None else member for member in members)]
    return found
