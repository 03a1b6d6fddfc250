"""Plans and executors: what phase one decided, and the object that carries it to phase two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.core import constants as c
from acl_emu.core import handles, observe
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.documented import PHASE_ONE
from acl_emu.core.errors import AclError, AclnnInner, AclnnInvalid, AclnnNullptr, AclnnRuntime, DeviceFault
from acl_emu.runtime import context, memory
from acl_emu.runtime.tensor import BoundOperand, Operand, Shape, contiguous_strides

_WORKSPACE_ALIGNMENT = 512


class Scratch:
    """One array in the workspace."""

    __slots__ = ("dtype", "name", "offset", "shape")

    def __init__(self, name: str, shape: Shape, dtype: np.dtype[Any], offset: int) -> None:
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.offset = offset

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def array(self, workspace: int) -> npt.NDArray[Any]:
        """Its elements in the caller's workspace."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        try:
            return memory.array_at(workspace + self.offset, self.shape, self.dtype)
        except DeviceFault as fault:
            raise DeviceFault(f"workspace ({self.name}): {fault}") from None


class Workspace:
    """The layout of the workspace that a plan asks for."""

    def __init__(self) -> None:
        self.parts: list[Scratch] = []
        self.size = 0

    def add(self, name: str, shape: Shape, dtype: np.dtype[Any]) -> Scratch:
        """Reserve space for one array."""
        part = Scratch(name, shape, dtype, self.size)
        self.parts.append(part)
        self.size += -(-part.nbytes // _WORKSPACE_ALIGNMENT) * _WORKSPACE_ALIGNMENT
        return part


Kernel = Callable[[Sequence[BoundOperand], Sequence[BoundOperand], int], Sequence[Shape] | None]
"""A kernel, ready to run: inputs, outputs, address of the workspace. It returns the shapes of the outputs that its data decide."""


class Indices(NamedTuple):
    """Elements of an input that choose something: where one that chooses nothing counts for nothing, who checks a program may tell."""

    name: str
    """Of the parameter."""
    dtype: np.dtype[Any]
    choices: int
    """How many things there are to choose from, the first with number 0."""
    ignored: int | None = None
    """One that is meant to choose nothing."""


class Remark(NamedTuple):
    """Something that the data of a call show, and that is no error: who checks a program may tell."""

    kind: str
    """The kind of finding."""
    parameter: str
    text: str


class Plan:
    """What phase one decided: a kernel, what it reads and writes, and the workspace it needs.

    Calls that phase one decides alike share a plan, also at the same time: it holds no tensor, and running it changes nothing in it.
    """

    __slots__ = (
        *("_bound", "in_blocks", "indices", "kernel", "native", "reads"),
        *("remarks", "restated", "size", "sized", "workspace", "writes"),
    )

    def __init__(
        self,
        kernel: Kernel | None,
        reads: Sequence[Operand],
        writes: Sequence[Operand],
        workspace: Workspace,
        *,
        in_blocks: bool = False,
    ) -> None:
        self.kernel = kernel
        self.reads = tuple(reads)
        self.writes = tuple(writes)
        self.workspace = workspace
        self.size = sum(operand.size * operand.dtype.itemsize for operand in (*reads, *writes))
        """Bytes that are read and written."""
        self.native = getattr(kernel, "native", False)
        """Whether the kernel deals with numpy's error state itself."""
        self.in_blocks = in_blocks
        """Whether results are written while inputs are still being read: then no tensor may be both."""
        self.restated: tuple[Operand, ...] = ()
        """What tensors are described as from here on, where an operator changes their layout: phase one of the next one has to know."""
        self.sized: tuple[Operand, ...] = ()
        """Outputs whose shape the data decide: phase one plans for the largest, the tensors get theirs when the work is done."""
        self.indices: tuple[Indices, ...] = ()
        """Inputs whose elements may choose nothing without being told so."""
        self.remarks: Callable[[Sequence[npt.NDArray[Any]]], Sequence[Remark]] | None = None
        """What is remarkable about the inputs, for who checks a program: it gets them as arrays before the kernel does."""
        self._bound: tuple[Sequence[int | None], list[BoundOperand], list[BoundOperand]] = ((), [], [])

    def bind(self, addresses: Sequence[int | None]) -> tuple[list[BoundOperand], list[BoundOperand]]:
        """What is read and what is written, with the addresses of a call's tensors; calls in a row often have the same."""
        bound = self._bound
        if bound[0] != addresses:
            reads, writes = (
                [BoundOperand(operand.name, operand.view, addresses[operand.place]) for operand in operands]
                for operands in (self.reads, self.writes)
            )
            bound = self._bound = (addresses, reads, writes)
        return bound[1], bound[2]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.kernel is None


def nothing() -> Plan:
    """The plan of a call on empty tensors."""
    return Plan(None, (), (), Workspace())


Parameters = tuple[Operand | list[Operand | None] | None, ...]
"""Tensor parameters in order; a list parameter as the list of its members, a null one as None."""


class Executor:
    """An aclOpExecutor: one plan, to be run once, or again and again when made repeatable. As it was when it was looked at."""

    c_name = "aclOpExecutor"
    number = lib.ACL_EMU_EXECUTOR
    __slots__ = ("addresses", "handle", "inputs", "operator", "outputs", "plan")

    def __init__(
        self, operator: str, plan: Plan, inputs: Parameters, outputs: Parameters, addresses: Sequence[int | None] = (), handle: int = 0
    ) -> None:
        self.operator = operator
        self.plan = plan
        self.inputs = inputs
        self.outputs = outputs
        self.addresses = addresses
        """Where the tensors of this call begin; operands know their places among them."""
        self.handle = handle

    @property
    def repeatable(self) -> bool:
        """Whether it can be run again and again, now."""
        return bool(lib.acl_emu_is_repeatable(self.handle))

    @property
    def about(self) -> str:
        """What it runs, for messages."""
        return f"of {self.operator}"

    def destroy(self) -> None:
        """Make the handle a dead one."""
        handles.destroy(self.handle, Executor)

    def launch(self, workspace: int | None, size: int, stream_handle: int | None) -> None:
        """Phase two: check the workspace, take a snapshot, queue the kernel. A single-use executor is gone afterwards."""
        plan = self.plan
        try:
            if size or plan.workspace.size:
                self._check_workspace(workspace, size)
            try:
                stream = context.find_stream(stream_handle)
                if plan.kernel is not None:
                    launch = Launch(self.operator, plan, self.addresses, workspace or 0, tensors=self._tensors() if plan.sized else None)
                    work = launch.describe(self.handle) if observe.watching is not None else None
                    stream.submit(launch, work, size=plan.size)
            except AclError as error:
                raise AclnnRuntime(f"{self.operator}: the runtime refused the launch with {error.code}: {error}") from None
        finally:
            if not self.repeatable:
                self.destroy()

    def _tensors(self) -> Any:
        """What refers to the tensors of this call, whatever becomes of the executor."""
        launch = ffi.new("acl_emu_launch *")
        if not lib.acl_emu_launch_of(self.handle, launch):
            raise AclnnInner(f"{self.operator}: the executor was destroyed by another thread, or there is no memory")
        return ffi.gc(launch, lib.acl_emu_release_launch)

    def _check_workspace(self, workspace: int | None, size: int) -> None:
        needed = self.plan.workspace.size
        if not workspace:
            raise AclnnNullptr(
                f"{self.operator}: workspace must not be null, phase one asked for {needed} bytes and workspaceSize is {size}"
            )
        if size < needed:
            raise AclnnInvalid(f"{self.operator}: workspaceSize is {size}, phase one asked for {needed} bytes")

    def replace_address(self, where: Parameters, index: int, address: int | None, what: str) -> None:
        """Point the tensor at a flat index (list members count one by one) to another address."""
        flat = [member for entry in where for member in (entry if isinstance(entry, list) else [entry])]
        if not 0 <= index < len(flat):
            raise AclnnInvalid(f"index is {index}, {self.operator} has {len(flat)} {what} tensors")
        operand = flat[index]
        if operand is None:
            raise AclnnInvalid(f"index is {index}, that {what} tensor of {self.operator} was null in phase one")
        self._set_address(operand, address)

    def replace_member_address(self, where: Parameters, index: int, member: int, address: int | None, what: str) -> None:
        """Point one member of a list parameter to another address."""
        if not 0 <= index < len(where):
            raise AclnnInvalid(f"irIndex is {index}, {self.operator} has {len(where)} {what} parameters")
        entry = where[index]
        members = entry if isinstance(entry, list) else [entry]
        if not 0 <= member < len(members):
            raise AclnnInvalid(f"relativeIndex is {member}, {what} parameter {index} of {self.operator} has {len(members)} tensors")
        operand = members[member]
        if operand is None:
            raise AclnnInvalid(f"irIndex is {index}, that {what} parameter of {self.operator} was null in phase one")
        self._set_address(operand, address)

    def _set_address(self, operand: Operand, address: int | None) -> None:
        lib.acl_emu_set_operand(self.handle, operand.place, address or 0)


class Launch:
    """One queued run of a plan: it holds its own snapshot of every address."""

    __slots__ = ("done", "operator", "plan", "reads", "tensors", "workspace", "writes")

    def __init__(
        self, operator: str, plan: Plan, addresses: Sequence[int | None], workspace: int, done: int = 0, tensors: Any = None
    ) -> None:
        self.operator = operator
        self.plan = plan
        self.reads, self.writes = plan.bind(addresses)
        self.workspace = workspace
        self.done = done
        """Of a launch that carries out several plans: how many have been."""
        self.tensors = tensors
        """An acl_emu_launch with the tensors whose shapes the data decide."""

    def describe(self, executor: int) -> observe.Work:
        """What it reads and writes, for whoever watches."""
        return observe.Work(
            "kernel",
            self.operator,
            reads=tuple(observe.span_of(operand) for operand in self.reads),
            writes=tuple(observe.span_of(operand) for operand in self.writes),
            workspace=observe.Span.flat("workspace", self.workspace, self.plan.workspace.size) if self.plan.workspace.size else None,
            executor=executor,
        )

    def __call__(self) -> None:
        """Run it; a fault names the operator."""
        kernel = self.plan.kernel
        assert kernel is not None
        try:
            if self.done:
                kernel.go_on(self.done, self.reads, self.writes, self.workspace)  # type: ignore[attr-defined]
                return
            if self.plan.native:
                kernel(self.reads, self.writes, self.workspace)
                return
            with np.errstate(all="ignore"):
                shapes = kernel(self.reads, self.writes, self.workspace)
            if self.plan.sized:
                self._describe_outputs(shapes or ())
        except DeviceFault as fault:
            raise DeviceFault(f"{self.operator}: {fault}") from None

    def _describe_outputs(self, shapes: Sequence[Shape]) -> None:
        """Tell the tensors what shape the data gave them: packed where they were contiguous, else with the strides that they had."""
        for operand, shape in zip(self.plan.sized, shapes, strict=True):
            strides = contiguous_strides(shape) if operand.contiguous else operand.view.strides
            lib.acl_emu_set_shape(self.tensors, operand.place, len(shape), list(shape), list(strides))


def find_executor(handle: int | None, operator: str) -> Executor:
    """The living executor of an operator, for phase two."""
    if not handle:
        raise AclnnNullptr(f"{operator}: executor must not be null")
    executor = handles.find(handle, Executor)
    if executor is None:
        raise AclnnInner(
            f"{operator}: executor is {handles.describe(handle)}, expected a living aclOpExecutor; "
            "one that was not made repeatable can be run once"
        )
    if executor.operator != operator:
        raise AclnnInner(f"{operator}: executor was made by {executor.operator}{PHASE_ONE}")
    return executor


def find_executor_object(handle: int | None) -> Executor:
    """The living executor behind a handle, for the executor functions."""
    if not handle:
        raise AclnnInner("executor must not be null", c.ACLNN_ERR_INNER_NULLPTR)
    executor = handles.find(handle, Executor)
    if executor is None:
        raise AclnnInner(f"executor is {handles.describe(handle)}, expected a living aclOpExecutor")
    return executor
