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
    between,
    broadcast_shape,
    mapped,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)

TYPES = (FLOAT, FLOAT16, BF16, DOUBLE, INT32, INT64, INT16, INT8, UINT8, BOOL)
INDEX_TYPES = (INT32, INT64, BOOL)
REAL = dict.fromkeys((Product.A910, Product.A310P, Product.A3, Product.A2), TYPES)


@operator(products=ALL)
def aclnnIndex(
    self: Annotated[Operand, In(*TYPES, COMPLEX64, on=REAL)],
    indices: Annotated[list[Operand | None], ListOf(In(optional=True))],
    out: Annotated[Operand, Out(*TYPES, COMPLEX64, on=REAL)],
) -> Plan:
    """Take the elements of ``self`` that ``indices`` choose: one member for each dimension, null for all of it, masks for several."""
    same_dtype(self, out)
    members = [None if member is None or member.shape == (0,) else member for member in indices]
    if self.rank == 0:  # a row of one
        self = self.in_view((1,))
        members = [member and member.in_view(member.shape or (1,)) for member in members]
    for member in filter(None, members):
        wanted = ", ".join(map(str, INDEX_TYPES))
        require(member.dtype in INDEX_TYPES, f"{member.name} has dtype {member.dtype}, expected one of {wanted}")
    axes = first_axes(self, members)
    if 0 in out.shape:  # an index of shape [0] may be one, or stand for null: either is nothing to do here
        return nothing()
    chosen = chosen_shape(self, members, axes, out)
    shape_is(out, chosen.shape, "of what indices choose from self")
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


def places(length: int, shape: tuple[int, ...]) -> Array:
    """Indices into so many elements, counted from either end."""
    return between(-length, length, shape, INT64 if len(shape) > 1 else INT32, length)


def first_axes(self: Operand, members: Sequence[Operand | None]) -> tuple[int, ...]:
    """Where each member begins to choose; a mask covers as many dimensions as it has and has their lengths."""
    axes, axis = [], 0
    for member in members:
        axes.append(axis)
        if member is None or member.dtype is not BOOL:
            axis += 1
            continue
        covered = self.shape[axis : axis + member.rank]
        require(
            member.shape == covered,
            f"{member.name} has shape {list(member.shape)}, expected that of self from dimension {axis}: {list(covered)}",
        )
        axis += member.rank
    require(axis <= self.rank, f"indices choose from {axis} dimensions, expected at most {self.rank}: self has shape {list(self.shape)}")
    return tuple(axes)


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
    given = [place for place, member in enumerate(members) if member is not None]
    integers = [member for member in members if member is not None and member.dtype is not BOOL]
    masks = [member for member in members if member is not None and member.dtype is BOOL]
    common = list(broadcast_shape(*integers)) if integers else []
    covered = {axes[place] + k for place in given for k in range(_covers(members[place]))}
    left = [length for axis, length in enumerate(self.shape) if axis not in covered]
    neighbours = given == list(range(given[0], given[-1] + 1)) if given else True
    before = axes[given[0]] if given and neighbours else 0
    least = common[-1] if common else 1
    if masks:
        common = common or [1]
        place = before + len(common) - 1
        if least == 1:
            common[-1] = out.shape[place] if out.rank == len(left) + len(common) else 1
    return Chosen((*left[:before], *common, *left[before:]), least, common[-1] if masks else 0)


def _covers(member: Operand | None) -> int:
    """The number of dimensions that a member chooses from."""
    return member.rank if member is not None and member.dtype is BOOL else 1


def taken(values: Array, *members: Array | None, axes: tuple[int, ...], names: tuple[str, ...], least: int, length: int) -> Array:
    """As numpy indexes; what would be outside, or not fit ``out``, is a fault."""
    lengths = {least}
    for member, axis, name in zip(members, axes, names, strict=True):
        if member is None:
            continue
        if member.dtype == np.bool_:
            lengths.add(int(np.count_nonzero(member)))
            continue
        extent = values.shape[axis]
        wrong = (member < -extent) | (member >= extent)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise DeviceFault(f"{name}{list(place)} is {member[place]}, outside [{-extent}, {extent - 1}]")
    if length and (lengths - {1} or {1}) != {length}:
        raise DeviceFault(f"the masks in indices choose {' and '.join(map(str, sorted(lengths - {1}))) or 1} elements, out holds {length}")
    found: Array = values[tuple(slice(None) if member is None else member for member in members)]
    return found
