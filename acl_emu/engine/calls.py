"""Kernels that one function in C does as a whole."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import DType
from acl_emu.engine.bindings import DONE, address_of, describe, tell_operands
from acl_emu.engine.functions import function
from acl_emu.engine.program import DTYPES
from acl_emu.runtime import memory
from acl_emu.runtime.executor import Plan
from acl_emu.runtime.tensor import BoundOperand, Operand

# Known to acl_emu/engine/c/index.h.
MOST_OPERANDS = 24
_SHORT_BYTES = 1 << 15
"""Of a kernel that is through before another thread could have used the interpreter."""


def done_by(name: str, plan: Plan, numbers: Sequence[int], *, threaded: bool, kept: Sequence[Any] = ()) -> Plan:
    """The same plan, its kernel done by a function in C where there is one, on all threads or on one.

    ``numbers`` are what the function has to know of the operands. Where it finds, before anything is written, that it cannot do the work,
    the plan's own kernel does it: that one also has the words for what is wrong. ``kept`` is what the numbers point to.
    """
    run = function(name, ctypes.c_int64)
    if run is None or plan.kernel is None or any(_repeats(operand) for operand in plan.writes):
        return plan
    call = Call(run, plan, numbers, soc.threads() if threaded else 1, kept)
    return Plan(call, plan.reads, plan.writes, plan.workspace, in_blocks=plan.in_blocks)


def code_of(dtype: DType) -> int:
    """The number of a type in C."""
    return DTYPES.index(dtype.storage.name)


def stride_of(operand: Operand) -> int | None:
    """Bytes between its elements, one after the other; None where they do not lie at equal distances."""
    return even_stride(operand.shape, operand.view.layout.strides)


def even_stride(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The same for any axes."""
    axes = [(length, stride) for length, stride in zip(shape, strides, strict=True) if length > 1]
    even = all(outer == length * inner for (_, outer), (length, inner) in pairwise(axes))
    return None if not even else axes[-1][1] if axes else 0


def _repeats(operand: Operand) -> bool:
    """Whether elements lie on each other: then it matters which of them is written last."""
    return any(length > 1 and not stride for length, stride in zip(operand.shape, operand.view.strides, strict=True))


class Call:
    """A kernel that a function does, or numpy where that cannot."""

    __slots__ = ("_array", "_is_short", "_kept", "_last", "_numbers", "_offsets", "_parts", "_run", "_threads", "in_numpy")
    native = True

    def __init__(self, run: Any, plan: Plan, numbers: Sequence[int], threads: int, kept: Sequence[Any]) -> None:
        assert plan.kernel is not None
        layouts, parts = [operand.view.layout for operand in (*plan.reads, *plan.writes)], plan.workspace.parts
        extents = [layout.extent for layout in layouts] + [part.nbytes for part in parts]
        for index, operand in enumerate(plan.reads):
            if operand in plan.writes:  # the function knows it as what is written
                extents[index] = 0
        head = (ctypes.addressof(memory.REGION_TABLE), len(plan.reads), len(extents), *extents, *[0] * (MOST_OPERANDS - len(extents)))
        self._run = run
        self._numbers = np.array([*head, *numbers], np.int64).tobytes()
        self._offsets = [layout.offset for layout in layouts]
        self._parts = [part.offset for part in parts]
        self._array = ctypes.c_int64 * len(extents)
        self._threads = ctypes.c_int64(threads)
        self._is_short = plan.size < _SHORT_BYTES
        self._kept = kept
        """What the numbers point to."""
        self._last: tuple[Any, Any, int, Any] = (None, None, 0, None)
        """The operands of the last run and their addresses: calls in a row often have the same."""
        self.in_numpy = plan.kernel
        """The same in numpy."""

    def describe(self, native: Any, places: Sequence[int]) -> None:
        """Tell C how to run it on the tensors at these places; where there are too many, it is not told."""
        if tell_operands(native, (*places, *[-1] * len(self._parts)), (*self._offsets, *self._parts)):
            describe(native, address_of(self._run), self._numbers, self._threads.value, is_short=self._is_short)

    def __call__(self, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], workspace: int) -> None:
        """Run it."""
        last = self._last
        if last[0] is not inputs or last[1] is not outputs or last[2] != workspace:
            addresses = [(operand.address or 0) + offset for operand, offset in zip((*inputs, *outputs), self._offsets, strict=True)]
            last = self._last = (inputs, outputs, workspace, self._array(*addresses, *[workspace + offset for offset in self._parts]))
        if self._run(self._numbers, last[3], self._threads) != DONE:
            with np.errstate(all="ignore"):
                self.in_numpy(inputs, outputs, workspace)
