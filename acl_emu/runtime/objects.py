"""What lives in C, and what C knows of plans, executors and streams, so that calls need not come to Python."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from acl_emu.core import _door, handles, observe
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.errors import AclError
from acl_emu.runtime import context, plans
from acl_emu.runtime.executor import Executor
from acl_emu.runtime.plans import Planned
from acl_emu.runtime.stream import refuse_in_callback
from acl_emu.runtime.tensor import Operand, Tensor, View, make_view

room = ffi.new_allocator(should_clear_after_alloc=False)
"""A count that promises more than there is costs nothing: the copy fails before the room is touched."""


def _open() -> None:
    """Calls need not come here as long as nobody watches."""
    lib.acl_emu_open = observe.watching is None


def _count_objects() -> dict[str, int]:
    counts = {Tensor.c_name: lib.acl_emu_tensor_count(), Executor.c_name: lib.acl_emu_executor_count()}
    return {name: count for name, count in counts.items() if count}


# From C to here


class _Move:
    """Moves objects from C to Python. Executors go first: those in C rely on their tensors staying as they are."""

    def __init__(self) -> None:
        self.moved: dict[int, Any] = {}
        self._executors: list[tuple[int, int, list[int], list[int]]] = []

    def take(self, handle: int) -> dict[int, Any]:
        """Everything that was moved because of one handle; without one, the executors."""
        self._take_executors()
        self._take_tensor(handle)
        for taken, number, tensors, addresses in self._executors:  # it may grow meanwhile
            operator, plan, inputs, outputs = plans.numbered[number]
            parameters = [one for entry in (*inputs, *outputs) for one in (entry if isinstance(entry, list) else (entry,))]
            operands = {operand.place: operand for operand in parameters if operand is not None}
            found = [self._tensor(one, operands.get(place), addresses[place]) for place, one in enumerate(tensors)]
            self.moved[taken] = Executor(operator, plan, inputs, outputs, found, taken)
        return self.moved

    def _take_executors(self) -> None:
        executor = ffi.new("acl_emu_executor *")
        while taken := lib.acl_emu_take_executor(executor):
            self._executors.append((taken, executor.plan.number, list(executor.tensors), list(executor.addresses)))

    def _take_tensor(self, handle: int) -> None:
        described = room("acl_emu_tensor *")
        while (size := lib.acl_emu_take_tensor(handle, described)) == lib.ACL_EMU_HELD:
            self._take_executors()
        if size:
            tensor = self.moved[handle] = tensor_in(described, size)
            tensor.handle = handle

    def _tensor(self, handle: int, operand: Operand | None, address: int) -> Tensor | None:
        """A tensor of an executor; one that was destroyed since phase one is as it was."""
        if operand is None:
            return None
        self._take_tensor(handle)
        return self.moved.get(handle) or handles.alive.get(handle) or Tensor(operand.view, address or None)


def _take_objects(handle: int) -> dict[int, Any]:
    return _Move().take(handle)


def tensor_in(described: Any, size: int) -> Tensor:
    """A tensor, as so many bytes of C describe it."""
    return Tensor(_view_of(ffi.buffer(described, size)[8:]), described.address or None)


@lru_cache(maxsize=1 << 14)
def _view_of(numbers: bytes) -> View:
    """The view that a tensor of C describes: its numbers behind the address."""
    rank, storage_rank, has_strides, dtype, format, offset, *rest = struct.unpack(f"{len(numbers) // 8}q", numbers)
    shape, strides, storage = rest[:rank], rest[rank : len(rest) - storage_rank], rest[len(rest) - storage_rank :]
    return make_view(shape, dtype, strides if has_strides else None, offset, format, storage)


# From here to C


def describe(executor: Executor) -> Any:
    """An executor, as C has them; None where it has no room for it."""
    if len(executor.tensors) > lib.ACL_EMU_TENSORS:
        return None
    plan = plans.in_c(Planned(executor.operator, executor.plan, executor.inputs, executor.outputs))
    if plan is None:
        return None
    tensors = [(0, 0) if tensor is None else (tensor.handle, tensor.address or 0) for tensor in executor.tensors]
    return ffi.new("acl_emu_executor *", (plan, [handle for handle, _ in tensors], [address for _, address in tensors]))


def address(described: Any) -> int:
    """Where C finds it."""
    return int(ffi.cast("uintptr_t", described))


def ease(executor: Executor, stream: int | None) -> None:
    """Phase two was carried out here: where it may come again, C can do that."""
    if executor.repeatable:
        described = describe(executor)
        if described is not None and permit(stream):
            lib.acl_emu_lend_executor(executor.handle, described)
    elif executor.plan.in_c is not None:
        permit(stream)


def permit(handle: int | None) -> bool:
    """Let the calling thread use a stream from C, if it may; where it may not, who asks for it is told why."""
    epoch = lib.acl_emu_epoch
    try:
        refuse_in_callback("putting work on a stream")
        stream = context.find_stream(handle)
    except AclError:
        return False
    if not stream.open_lane():
        return False
    lib.acl_emu_permit(handle or 0, stream.lane, epoch)
    return True


handles.take_from_c, handles.count_in_c = _take_objects, _count_objects
observe.on_change = _open
_open()
_door.connect(address(lib.acl_emu_table()))
