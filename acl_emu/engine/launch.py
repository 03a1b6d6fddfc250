"""How kernels run: arrays over device memory in, casts where dtypes differ, results rounded once on the way out.

A kernel is a pure numpy function. ``mapped`` gives it its inputs in one computing type and stores what it returns; ``direct`` gives
it the arrays as they lie in memory, with scratch buffers in the workspace, for kernels that work in blocks.
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
from acl_emu.core.errors import DeviceFault
from acl_emu.engine import Layout, Nest, apply, casts_of, compiled, compiled_cast
from acl_emu.engine.bindings import tell_operands
from acl_emu.runtime import memory
from acl_emu.runtime.executor import Kernel, Plan, Scratch, Workspace, nothing
from acl_emu.runtime.tensor import BoundOperand, Operand, Shape

Array = npt.NDArray[Any]


def mapped(
    kernel: Callable[..., Array | tuple[Array, ...]],
    *,
    reads: Sequence[Operand | None],
    writes: Sequence[Operand],
    dtype: DType,
    raw: Sequence[Operand] = (),
    **attributes: Any,
) -> Plan:
    """``writes = kernel(*reads, **attributes)``, computed in ``dtype``: what the operator's document promotes its inputs to.

    The kernel sees all inputs, truth values among them, as the type that ``dtype`` is computed in (``DType.compute``); an input that was
    null stays None. Inputs in ``raw`` it sees as they are stored: indices, masks, elements that are only moved. Results of the computing
    type are rounded to ``dtype``, then to the output's type; others, indices and truth values, and those of outputs in ``raw``, to the
    output's type at once. What has to be cast, an input or a result, takes a place in the workspace.
    """
    if all(0 in out.shape for out in writes):
        return nothing()
    via, compute = dtype.numpy, dtype.compute
    workspace = Workspace()
    present = [operand for operand in reads if operand is not None]
    casts: list[Scratch | None] = [
        None if operand in raw or operand.dtype.numpy == compute else workspace.add(f"{operand.name} as {compute}", operand.shape, compute)
        for operand in present
    ]
    uncast = [None if out in raw or out.dtype is dtype else workspace.add(f"{out.name} as {via}", out.shape, via) for out in writes]
    given = [operand is not None for operand in reads]

    def run(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], address: int) -> None:
        targets = [operand.array() for operand in outputs]
        arrays = (
            operand.array() if cast is None else _cast(operand.array(), cast.array(address), dtype)
            for operand, cast in zip(inputs, casts, strict=True)
        )
        results = kernel(*[next(arrays) if there else None for there in given], **attributes)
        stored = map(np.asarray, results if isinstance(results, tuple) else (results,))
        for target, scratch, result in zip(targets, uncast, stored, strict=True):
            if scratch is not None and result.dtype == compute:
                rounded = scratch.array(address)
                rounded[...] = dtypes.round_to(result, dtype)
                result = rounded
            target[...] = dtypes.round_to(result, dtypes.from_numpy(target.dtype))

    nest = compiled(
        kernel,
        [None if operand is None else _layout(operand) for operand in reads],
        [_layout(operand) for operand in writes],
        via=via,
        compute=compute,
        raw=[operand in raw for operand in (*reads, *writes)],
        attributes=attributes,
    )
    return Plan(Native(nest, present, writes, workspace.size, run) if nest else run, present, writes, workspace)


def unbuffered(
    kernel: Callable[..., Array], *, reads: Sequence[Operand], writes: Sequence[Operand], dtype: DType, **attributes: Any
) -> Plan:
    """``mapped`` for kernels whose casts take no place in the workspace: they read and write one type."""

    def run(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], _: int) -> None:
        arrays = [[operand.array() for operand in operands] for operands in (inputs, outputs)]
        apply(kernel, *arrays, dtype=dtype.compute, **attributes)

    layouts = [[_layout(operand) for operand in operands] for operands in (reads, writes)]
    raw = [False] * (len(reads) + len(writes))
    nest = compiled(kernel, *layouts, via=dtype.compute, compute=dtype.compute, raw=raw, attributes=attributes)
    return Plan(Native(nest, reads, writes, 0, run) if nest else run, reads, writes, Workspace())


class Native:
    """A kernel that the engine runs, or numpy where the engine cannot."""

    __slots__ = ("_nest", "_offsets", "_workspace", "in_numpy")
    native = True

    def __init__(self, nest: Nest, reads: Sequence[Operand], writes: Sequence[Operand], workspace: int, fallback: Kernel) -> None:
        self._nest = nest
        self._workspace = workspace
        self._offsets = [operand.view.offset * operand.dtype.storage.itemsize for operand in (*reads, *writes)]
        self.in_numpy = fallback
        """The same in numpy."""

    def describe(self, native: Any, places: Sequence[int]) -> None:
        """Tell C how to run it on the tensors at these places; where there are too many, it is not told."""
        if tell_operands(native, places, self._offsets):
            native.workspace = self._workspace
            self._nest.describe(native)

    def __call__(self, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], workspace: int) -> None:
        """Run it."""
        addresses = [(operand.address or 0) + offset for operand, offset in zip((*inputs, *outputs), self._offsets, strict=True)]
        # The engine casts on the way and leaves the workspace alone; one that is not there is a fault all the same.
        there = not self._workspace or memory.holds(workspace, self._workspace)
        if not there or not self._nest.run(addresses):
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


def sized(
    kernel: Callable[..., Array | tuple[Array, ...]], *, reads: Sequence[Operand], writes: Sequence[Operand], **attributes: Any
) -> Plan:
    """``writes = kernel(*reads, **attributes)`` where the data decide how much there is: outputs have the shape of the largest results.

    A result is written to the first elements of a contiguous output, one behind the other, and to the corner of a strided one. The tensor
    then has its shape. The rest of the output is not written.
    """

    def run(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], _: int) -> Sequence[Shape]:
        targets = [operand.array() for operand in outputs]
        results = kernel(*[operand.array() for operand in inputs], **attributes)
        found = results if isinstance(results, tuple) else (results,)
        corners = [_corner(*pair) for pair in zip(writes, targets, found, strict=True)]
        for corner, result in zip(corners, found, strict=True):
            corner[...] = result
        return [result.shape for result in found]

    plan = Plan(run, reads, writes, Workspace(), in_blocks=True)
    plan.sized = tuple(writes)
    return plan


def _corner(operand: Operand, target: Array, result: Array) -> Array:
    """Where a result goes in an output that is as large, or larger."""
    if operand.contiguous and result.size <= target.size:
        return target.reshape(-1)[: result.size].reshape(result.shape)
    if result.ndim != target.ndim or any(length > most for length, most in zip(result.shape, target.shape, strict=True)):
        raise DeviceFault(f"{operand.name} has shape {list(target.shape)}, the result has shape {list(result.shape)}")
    return target[tuple(slice(length) for length in result.shape)]


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


def cast_directly(plan: Plan, between: tuple[Operand, Operand] | None = None) -> Plan:
    """The same plan of a kernel that does nothing but cast what it reads to what it writes, done by the engine where that can.

    A kernel that also moves elements casts ``between`` two views of its operands, whose strides may be negative.
    """
    (read,), (write,) = plan.reads, plan.writes
    source, target = between or (read, write)
    nest = compiled_cast(_layout(source), _layout(target))
    if nest is None or plan.kernel is None:
        return plan
    return Plan(Native(nest, (source,), (target,), 0, plan.kernel), (read,), (write,), plan.workspace, in_blocks=plan.in_blocks)


def _cast(source: Array, to: Array, dtype: DType) -> Array:
    """``source`` as the computing type, by way of ``dtype``: an integer that meets a half type is rounded to it."""
    for step in casts_of(source.dtype, dtype.numpy, to.dtype)[:-1]:
        source = dtypes.round_to(source, dtypes.from_numpy(step))
    np.copyto(to, source, casting="unsafe")
    return to
