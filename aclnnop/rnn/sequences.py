"""Sequences as arguments of recurrent layers: their axes, the states and lists that go with them, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT64, DType
from acl_emu.core.errors import AclnnNullptr, DeviceFault
from acl_emu.spec import Array, In, ListOf, Operand, Out, numbers, require, shape_is
from aclnnop.rnn.layers import Stack

TYPES = (FLOAT, FLOAT16)
Sequences = Annotated[Operand, In(*TYPES, rank=(2, 3))]
States = Annotated[Operand, In(*TYPES, rank=3)]
Params = Annotated[list[Operand], ListOf(In(*TYPES, rank=(1, 2)))]
Saved = Annotated[list[Operand], ListOf(In(*TYPES, rank=(2, 3)))]
SavedOut = Annotated[list[Operand] | None, ListOf(Out(*TYPES), optional=True, least=0)]
ParamsOut = Annotated[list[Operand], ListOf(Out(*TYPES, rank=(1, 2)))]
SequencesOut = Annotated[Operand, Out(*TYPES, rank=(2, 3))]
StatesOut = Annotated[Operand, Out(*TYPES, rank=3)]
BatchSizes = Annotated[Operand | None, In(INT64, rank=1, optional=True)]


class Frame(NamedTuple):
    """How the sequences of a call lie."""

    steps: int
    batch: int
    lead: tuple[int, ...]
    """The first lengths of input and output."""
    batch_first: bool

    def by_step(self, array: Array) -> Array:
        """In FLOAT, steps first."""
        wide = np.asarray(array, np.float32)
        steps_first = wide.swapaxes(0, 1) if self.batch_first else wide
        return np.ascontiguousarray(steps_first).reshape(self.steps, self.batch, array.shape[-1])

    def as_given(self, array: Array) -> Array:
        """Back in the order of the arguments."""
        return array.swapaxes(0, 1) if self.batch_first else array.reshape(*self.lead, array.shape[-1])


def frame_of(x: Operand, sizes: Operand | None, *, batch_first: bool) -> Frame:
    """Without batch sizes there are three axes; with them steps and batch are one axis, every step as long as the first."""
    if sizes is None:
        require(x.rank == 3, f"{x.name} has {x.rank} dimensions, expected 3; its shape is {list(x.shape)}")
        steps, batch = (x.shape[1], x.shape[0]) if batch_first else x.shape[:2]
        return Frame(steps, batch, x.shape[:2], batch_first)
    require(sizes.size > 0, f"{sizes.name} has no elements, expected one for each step")
    if x.rank == 3:
        require(x.shape[0] == sizes.size, f"{x.name} has shape {list(x.shape)}, expected a first length as {sizes.name}: {sizes.size}")
        return Frame(sizes.size, x.shape[1], x.shape[:2], False)
    require(
        x.shape[0] % sizes.size == 0,
        f"{x.name} has shape {list(x.shape)}, expected a first length that the steps, the elements of {sizes.name}, divide: {sizes.size}",
    )
    return Frame(sizes.size, x.shape[0] // sizes.size, x.shape[:1], False)


def unpacked(array: Array, valid: Array) -> Array:
    """Packed rows, those of each step behind those of the one before, as steps of equal length, in FLOAT."""
    steps, batch, _ = valid.shape
    if valid.sum() != len(array):
        raise DeviceFault(f"batch sizes add up to {int(valid.sum())}, expected the rows of the input: {len(array)}")
    dense = np.zeros((steps, batch, array.shape[-1]), np.float32)
    dense[valid[..., 0]] = array
    return dense


def packed(array: Array, valid: Array) -> Array:
    """Back again."""
    found: Array = array[valid[..., 0]]
    return found


def states_fit(stack: Stack, frame: Frame, *states: Operand) -> None:
    """One state for each direction of each layer."""
    for state in states:
        shape_is(state, (stack.states, frame.batch, stack.hidden), "directions of all layers, batch, hidden elements")


def saved_fit(stack: Stack, shape: tuple[int, ...], named: dict[str, list[Operand] | None]) -> list[list[Operand]]:
    """Lists with a member of this shape for each direction of each layer."""
    found = []
    for name, members in named.items():
        if members is None:
            raise AclnnNullptr(f"{name} must not be a null pointer where train is true")
        require(
            len(members) == stack.states,
            f"{name} has {len(members)} members, expected one for each direction of each layer: {stack.states}",
        )
        for member in members:
            shape_is(member, shape, "steps, batch, hidden elements")
        found.append(members)
    return found


def grouped(arrays: Sequence[Any], *counts: int) -> list[list[Any]]:
    """Arguments of a kernel as lists of so many."""
    ends = np.cumsum(counts)
    return [list(arrays[end - count : end]) for end, count in zip(ends, counts, strict=True)]


def parameters(dtype: DType, gates: int, hidden: int, inputs: int, *, layers: int, directions: int, bias: bool) -> list[Array]:
    """Small ones, for examples."""
    shapes = []
    for layer in range(layers):
        columns = directions * hidden if layer else inputs
        rows = gates * hidden
        for _ in range(directions):
            shapes += [(rows, columns), (rows, hidden), *([(rows,)] * 2 if bias else [])]
    return [numbers(shape, dtype, seed, 0.5) for seed, shape in enumerate(shapes)]
