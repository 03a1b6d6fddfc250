"""What index tensors and masks choose: one for each dimension, null for all of it, a mask for as many as it has."""

from __future__ import annotations

from collections.abc import Sequence

from acl_emu.core.dtypes import BOOL, INT32, INT64
from acl_emu.spec import Array, Operand, between, require

INDEX_TYPES = (INT32, INT64, BOOL)


def places(length: int, shape: tuple[int, ...]) -> Array:
    """Indices into so many elements, counted from either end."""
    return between(-length, length, shape, INT64 if len(shape) > 1 else INT32, length)


def as_rows(self: Operand, indices: Sequence[Operand | None]) -> tuple[Operand, list[Operand | None]]:
    """A number as a row of one; indices of shape [0] stand for null. 161002 for another type."""
    members = [None if member is None or member.shape == (0,) else member for member in indices]
    if self.rank == 0:
        self = self.in_view((1,))
        members = [member and member.in_view(member.shape or (1,)) for member in members]
    for member in filter(None, members):
        wanted = ", ".join(map(str, INDEX_TYPES))
        require(member.dtype in INDEX_TYPES, f"{member.name} has dtype {member.dtype}, expected one of {wanted}")
    return self, members


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


def covered_axes(members: Sequence[Operand | None], axes: Sequence[int]) -> tuple[list[int], int]:
    """The dimensions that are chosen from, and how many others the result has in front: none unless all of the former are neighbours."""
    given = [place for place, member in enumerate(members) if member is not None]
    covered = [axes[place] + k for place in given for k in range(_covers(members[place]))]
    neighbours = given == list(range(given[0], given[-1] + 1)) if given else False
    return covered, axes[given[0]] if neighbours else 0


def _covers(member: Operand | None) -> int:
    """The number of dimensions that a member chooses from."""
    return member.rank if member is not None and member.dtype is BOOL else 1
