"""Kernels that are a row of programs and functions in C, each of which works on what those before it have left."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.engine import identified, nest_for
from acl_emu.engine.bindings import address_of
from acl_emu.engine.calls import MOST_OPERANDS, done_by
from acl_emu.engine.functions import function
from acl_emu.engine.matmul import FUNCTION, Sum, Taken, product
from acl_emu.engine.program import Layout
from acl_emu.runtime.executor import Plan
from acl_emu.runtime.tensor import Operand, Shape

# Known to acl_emu/engine/c/index_chain.c.
_MOST_PARTS = 16
_MOST_STEPS = 1 << 12
_ELSEWHERE = -1

_ALIGNMENT = 64


class Part(NamedTuple):
    """Memory that a step works on: an operand, a part of the workspace, of the scratch buffer that steps share, or what never changes."""

    place: int
    offset: int
    """In bytes; the address itself where it lies elsewhere."""
    layout: Layout

    def at(self, offset: int, shape: Shape, strides: tuple[int, ...]) -> Part:
        """Other elements of the same type, from so many bytes on."""
        return Part(self.place, self.offset + offset, Layout(shape, strides, self.layout.dtype))

    @property
    def transposed(self) -> Part:
        """The transposed matrix."""
        return self.at(0, self.layout.shape[::-1], self.layout.strides[::-1])

    def dense(self, shape: Shape) -> Part:
        """As many of its elements, from the first on, as a shape has, one behind the other."""
        return Part(self.place, self.offset, _dense(shape, self.layout.dtype))

    def rows(self, rows: slice) -> Part:
        """Some of its rows."""
        shape, strides, _ = self.layout
        return self.at(rows.start * strides[0], (rows.stop - rows.start, *shape[1:]), strides)

    def with_axis(self, axis: int) -> Part:
        """The same with an axis of length 1 more."""
        shape, strides, _ = self.layout
        return self.at(0, (*shape[:axis], 1, *shape[axis:]), (*strides[:axis], 0, *strides[axis:]))


class Chain:
    """The steps of a plan's kernel, as they are added; the plan's own kernel is the same in numpy."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        operands = [*plan.reads, *plan.writes]
        self._places = {id(operand): place for place, operand in enumerate(operands)}
        """What is read and written is known as what is written."""
        self._operands = len(operands) + len(plan.workspace.parts)
        self._buffers = 0
        self._steps: list[tuple[int, int, tuple[Part, ...], int]] = []
        self._numbers: dict[bytes, int] = {}
        """Of all steps, and where they begin; equal ones are there once."""
        self._length = 0
        self._kept: list[Any] = []
        self._complete = plan.kernel is not None and self._operands <= MOST_OPERANDS

    def of(self, operand: Operand) -> Part:
        """The elements of an operand."""
        layout = operand.view.layout
        return Part(self._places[id(operand)], 0, Layout(layout.shape, layout.strides, layout.dtype))

    def scratch(self, name: str) -> Part:
        """A part of the workspace."""
        parts = self._plan.workspace.parts
        place = next(place for place, part in enumerate(parts) if part.name == name)
        return Part(self._operands - len(parts) + place, 0, _dense(parts[place].shape, parts[place].dtype))

    def buffer(self, shape: Shape, dtype: npt.DTypeLike = np.float64) -> Part:
        """Memory for what one step leaves to another."""
        part = Part(self._operands, self._buffers, _dense(shape, np.dtype(dtype)))
        self._buffers += -(-math.prod(shape) * part.layout.dtype.itemsize // _ALIGNMENT) * _ALIGNMENT
        return part

    def constant(self, array: npt.NDArray[Any]) -> Part:
        """Numbers that are the same in every call."""
        self._kept.append(array)
        return Part(_ELSEWHERE, array.ctypes.data, Layout(array.shape, array.strides, array.dtype))

    def kernel(
        self,
        kernel: Callable[..., Any],
        reads: Sequence[Part],
        writes: Sequence[Part],
        *,
        dtype: npt.DTypeLike = np.float32,
        **attributes: Any,
    ) -> None:
        """Next, what ``apply`` does: ``writes = kernel(*reads, **attributes)``."""
        layouts = [tuple(part.layout for part in parts) for parts in (reads, writes)]
        nest = nest_for(kernel, *layouts, np.dtype(dtype), identified(attributes))
        if nest is None:
            self._complete = False
        else:
            self._add(nest.function, nest.numbers, (*reads, *writes), threaded=True)

    def product(self, a: Part, b: Part, out: Part, *, add: bool = False, plus: Sum | None = None, taken: Taken = Taken.UNCHANGED) -> None:
        """Next, what ``matmul`` does; what is added is a part, too."""
        layout = None if plus is None else plus._replace(added=plus.added.layout)
        call = product(a.layout, b.layout, out.layout, add=add, plus=layout, taken=taken)
        parts = (a, b, out, *(() if plus is None else (plus.added,)))
        self.call(FUNCTION, call.numbers, [parts[place] for place in call.order], threaded=True)

    def call(self, name: str, numbers: Sequence[int], parts: Sequence[Part], *, threaded: bool) -> None:
        """Next, a function in C, which gets numbers and the parts that it works on."""
        run = function(name)
        if run is None:
            self._complete = False
        else:
            self._add(address_of(run), np.array(numbers, np.int64).tobytes(), tuple(parts), threaded=threaded)

    def _add(self, run: int, numbers: bytes, parts: tuple[Part, ...], *, threaded: bool) -> None:
        if len(parts) > _MOST_PARTS or len(self._steps) == _MOST_STEPS:
            self._complete = False
        if self._complete:
            at = self._numbers.setdefault(numbers, self._length)
            if at == self._length:
                self._length += len(numbers) // 8
            self._steps.append((run, at, parts, threaded))

    def planned(self) -> Plan:
        """The plan, run step by step in C where all of them can be."""
        if not self._complete:
            return self._plan
        steps: list[int] = []
        for run, at, parts, threaded in self._steps:
            places = [number for part in parts for number in (part.place, part.offset)]
            steps += (run, at, threaded, len(parts), *places)
        numbers = np.frombuffer(b"".join(self._numbers), np.int64).tolist()
        head = (self._buffers, len(self._steps), len(steps))
        return done_by("acl_emu_chain_run", self._plan, (*head, *steps, *numbers), threaded=True, kept=self._kept)


def _dense(shape: Shape, dtype: np.dtype[Any]) -> Layout:
    strides = [dtype.itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return Layout(shape, tuple(strides), dtype)
