"""How kernels run: arrays over device memory in, casts where dtypes differ, results rounded once on the way out.

A kernel is a pure numpy function. ``mapped`` gives it its inputs in one computing type and stores what it returns; ``direct`` gives
it the arrays as they lie in memory, with room in the workspace, for kernels that work in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core import dtypes
from acl_emu.core.dtypes import DType
from acl_emu.engine import Layout, Program, apply, compiled, compiled_cast
from acl_emu.engine.bindings import tell_operands
from acl_emu.runtime import memory
from acl_emu.runtime.executor import Kernel, Plan, Scratch, Workspace, nothing
from acl_emu.runtime.tensor import BoundOperand, Operand, Shape

Array = npt.NDArray[Any]

SINGLE_SIZE = 1 << 14
"""Elements from which on float32 is worth its last digit."""


def mapped(
    kernel: Callable[..., Array | tuple[Array, ...]],
    *,
    reads: Sequence[Operand | None],
    writes: Sequence[Operand],
    via: DType,
    compute: npt.DTypeLike | None = None,
    single: bool = False,
    raw: Sequence[Operand] = (),
    **attributes: Any,
) -> Plan:
    """``writes = kernel(*reads, **attributes)``, the inputs taken as ``via`` and the results given in it.

    ``compute`` is what the kernel evaluates in (by default that of ``via``). Operands in ``raw``, indices and masks, are handed over as
    they are, and stored without the rounding to ``via``; an input that was null stays None. What has to be cast, an input or a result,
    takes a place in the workspace. ``single``: in float32 the kernel is accurate enough for FLOAT results, where the engine runs it; small
    tensors, where speed is no matter, are evaluated in ``compute`` all the same.
    """
    if all(0 in out.shape for out in writes):
        return nothing()
    computing = via.compute if compute is None else np.dtype(compute)
    workspace = Workspace()
    present = [operand for operand in reads if operand is not None]
    casts: list[Scratch | None] = []
    for operand in present:
        as_is = operand in raw or operand.dtype.numpy == computing
        casts.append(None if as_is else workspace.add(f"{operand.name} as {computing}", operand.shape, computing))
    kept = [out in raw for out in writes]
    rooms = [
        None if as_is or out.dtype is via else workspace.add(f"{out.name} as {via.numpy}", out.shape, via.numpy)
        for out, as_is in zip(writes, kept, strict=True)
    ]
    given = [operand is not None for operand in reads]

    def run(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], address: int) -> None:
        targets = [operand.array() for operand in outputs]
        arrays = (
            operand.array() if cast is None else _cast(operand.array(), cast.array(address), via)
            for operand, cast in zip(inputs, casts, strict=True)
        )
        results = kernel(*[next(arrays) if there else None for there in given], **attributes)
        stored = map(np.asarray, results if isinstance(results, tuple) else (results,))
        for target, room, as_is, result in zip(targets, rooms, kept, stored, strict=True):
            if as_is:
                target[...] = result
            elif room is None:
                target[...] = dtypes.round_to(result, via)
            else:
                uncast = room.array(address)
                uncast[...] = dtypes.round_to(result, via)
                target[...] = dtypes.round_to(uncast, dtypes.from_numpy(target.dtype))

    as_numbers = all(operand.dtype.numpy in (computing, np.bool_) for operand in present if operand in raw)
    program = as_numbers and compiled(
        kernel,
        [None if operand is None else _layout(operand) for operand in reads],
        [_layout(operand) for operand in writes],
        via=via.numpy,
        compute=computing,
        single=single and any(operand.size >= SINGLE_SIZE for operand in present),
        raw=[index for index, as_is in enumerate(kept) if as_is],
        attributes=attributes,
    )
    return Plan(Native(program, present, writes, workspace.size, run) if program else run, present, writes, workspace)


def unbuffered(
    kernel: Callable[..., Array],
    *,
    reads: Sequence[Operand],
    writes: Sequence[Operand],
    compute: npt.DTypeLike,
    single: bool = False,
    **attributes: Any,
) -> Plan:
    """``writes = kernel(*reads, **attributes)``, evaluated in ``compute`` and rounded once; casts take no place in the workspace."""

    def run(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], _: int) -> None:
        arrays = [[operand.array() for operand in operands] for operands in (inputs, outputs)]
        apply(kernel, *arrays, compute=compute, single=single, **attributes)

    layouts = [[_layout(operand) for operand in operands] for operands in (reads, writes)]
    via, everything = layouts[1][0].dtype, range(len(writes))
    program = compiled(kernel, *layouts, via=via, compute=np.dtype(compute), single=single, raw=everything, attributes=attributes)
    return Plan(Native(program, reads, writes, 0, run) if program else run, reads, writes, Workspace())


class Native:
    """A kernel that the engine runs, or numpy where the engine cannot."""

    __slots__ = ("_offsets", "_program", "_room", "in_numpy")
    native = True

    @property
    def signatures(self) -> tuple[str, ...]:
        """Of its graph, where that can be compiled as a whole."""
        return self._program.signatures

    def __init__(self, program: Program, reads: Sequence[Operand], writes: Sequence[Operand], room: int, fallback: Kernel) -> None:
        self._program = program
        self._room = room
        self._offsets = [operand.view.offset * operand.dtype.storage.itemsize for operand in (*reads, *writes)]
        self.in_numpy = fallback
        """The same in numpy."""

    def describe(self, native: Any, places: Sequence[int]) -> None:
        """Tell C how to run it on the tensors at these places; where there are too many, it is not told."""
        if tell_operands(native, places, self._offsets):
            native.workspace = self._room
            self._program.describe(native)

    def __call__(self, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], workspace: int) -> None:
        """Run it."""
        addresses = [(operand.address or 0) + offset for operand, offset in zip((*inputs, *outputs), self._offsets, strict=True)]
        # The engine casts on the way and leaves the workspace alone; one that is not there is a fault all the same.
        there = not self._room or memory.holds(workspace, self._room)
        if not there or not self._program.run(addresses):
            with np.errstate(all="ignore"):
                self.in_numpy(inputs, outputs, workspace)


def _layout(operand: Operand) -> Layout:
    storage = operand.dtype.storage
    return Layout(operand.shape, tuple(stride * storage.itemsize for stride in operand.view.strides), storage)


def direct(
    kernel: Callable[..., None],
    *,
    reads: Sequence[Operand | None],
    writes: Sequence[Operand | None],
    scratch: dict[str, tuple[Shape, npt.DTypeLike]],
    **attributes: Any,
) -> Plan:
    """``kernel(*reads, *writes, **scratch, **attributes)`` on the arrays in device memory; a tensor that was null stays None."""
    workspace = Workspace()
    parts = {name: workspace.add(name, shape, np.dtype(dtype)) for name, (shape, dtype) in scratch.items()}
    given = [operand is not None for operand in (*reads, *writes)]

    def run(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], address: int) -> None:
        present = iter((*inputs, *outputs))
        arguments = [next(present).array() if there else None for there in given]
        kernel(*arguments, **{name: part.array(address) for name, part in parts.items()}, **attributes)

    present_reads, present_writes = ([operand for operand in operands if operand is not None] for operands in (reads, writes))
    return Plan(run, present_reads, present_writes, workspace, in_blocks=True)


def together(plans: Sequence[Plan]) -> Plan:
    """One launch that carries out several plans, one after the other; they use the same workspace in turn."""
    busy = [plan for plan in plans if plan.kernel is not None]
    if len(busy) < 2:
        return busy[0] if busy else nothing()
    reads = [operand for plan in busy for operand in plan.reads]
    writes = [operand for plan in busy for operand in plan.writes]
    largest = max((plan.workspace for plan in busy), key=lambda workspace: workspace.size)
    return Plan(Together(busy), reads, writes, largest, in_blocks=any(plan.in_blocks for plan in busy))


class Together:
    """The kernels of several plans, run one after the other."""

    __slots__ = ("plans",)
    native = True

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plans = plans

    @property
    def signatures(self) -> tuple[str, ...]:
        """Of their graphs, where those can be compiled as a whole."""
        return tuple({text: None for plan in self.plans for text in getattr(plan.kernel, "signatures", ())})

    def __call__(self, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], workspace: int) -> None:
        """Run them."""
        self.go_on(0, inputs, outputs, workspace)

    def go_on(self, done: int, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], workspace: int) -> None:
        """Run those behind the first ``done``."""
        read, written = iter(inputs), iter(outputs)
        for index, plan in enumerate(self.plans):
            assert plan.kernel is not None
            own = list(islice(read, len(plan.reads))), list(islice(written, len(plan.writes)))
            if index < done:
                continue
            with nullcontext() if plan.native else np.errstate(all="ignore"):
                plan.kernel(*own, workspace)


def cast_directly(plan: Plan) -> Plan:
    """The same plan of a kernel that does nothing but cast what it reads to what it writes, done by the engine where that can."""
    (read,), (write,) = plan.reads, plan.writes
    program = compiled_cast(_layout(read), _layout(write))
    if program is None or plan.kernel is None:
        return plan
    return Plan(Native(program, (read,), (write,), 0, plan.kernel), (read,), (write,), plan.workspace, in_blocks=plan.in_blocks)


def _cast(source: Array, room: Array, via: DType) -> Array:
    """``source`` as the computing type, by way of ``via``: an integer that meets a narrower type is rounded to it."""
    if source.dtype != via.numpy and room.dtype != via.numpy and source.dtype.kind in "iu":
        source = dtypes.round_to(source, via)
    np.copyto(room, source, casting="unsafe")
    return room
