"""The objects of acl_meta.h, which live in C: making them, and looking at them. Calls that C can carry out do not come here."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from acl_emu.core import _fast, dtypes, handles, observe
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.errors import AclError, AclnnInner
from acl_emu.runtime import context, plans
from acl_emu.runtime.callbacks import refuse_in_callback
from acl_emu.runtime.executor import Executor
from acl_emu.runtime.tensor import BoolArray, FloatArray, IntArray, Scalar, ScalarList, Tensor, TensorList, View, make_view

Thing = Tensor | Scalar | IntArray | FloatArray | BoolArray | TensorList | ScalarList

KINDS: dict[int, type[Any]] = {
    kind.number: kind for kind in (Tensor, Scalar, IntArray, FloatArray, BoolArray, TensorList, ScalarList, Executor)
}

_new = ffi.new_allocator(should_clear_after_alloc=False)
_some = ffi.new("uint64_t[64]")


# Making


def make(thing: Thing) -> int:
    """A new object with this value: its handle."""
    if isinstance(thing, Tensor):
        handle = lib.acl_emu_make_tensor(*_described(thing.view), thing.address or 0)
    else:
        words = _words_of(thing)
        handle = lib.acl_emu_make_values(thing.number, words, len(words))
    return handles.made(_there(handle), thing)


def change(handle: int, view: View, address: int | None) -> None:
    """Describe a tensor anew; without an address it stays where it is."""
    _there(lib.acl_emu_change_tensor(handle, *_described(view), address or 0))


def restate(handle: int | None, view: View) -> None:
    """Describe a tensor as a plan does: it begins where it began."""
    tensor = handles.find(handle, Tensor)
    if handle and tensor is not None:
        change(handle, make_view(view.shape, view.dtype_code, view.strides, tensor.view.offset, view.format, view.storage), None)


def _there(handle: int) -> int:
    if not handle:
        raise AclnnInner("there is no memory for another object")
    return handle


def _described(view: View) -> tuple[Any, ...]:
    numbers = (*view.shape, *view.strides, *view.storage)
    return ffi.new("int64_t[]", numbers), len(view.shape), len(view.storage), view.dtype_code, view.format, view.offset


def _words_of(thing: Thing) -> Sequence[int]:
    if isinstance(thing, Scalar):
        return [thing.dtype.code, *struct.unpack("qq", thing.raw.ljust(16, b"\0"))]
    if isinstance(thing, FloatArray):
        return struct.unpack(f"{len(thing)}I", struct.pack(f"{len(thing)}f", *thing.values))
    if isinstance(thing, (TensorList, ScalarList)):
        return struct.unpack(f"{len(thing)}q", struct.pack(f"{len(thing)}Q", *[(member or 0) % (1 << 64) for member in thing.members]))
    assert isinstance(thing, (IntArray, BoolArray))
    return thing.values


def destroy_all() -> None:
    """No object is left."""
    while count := lib.acl_emu_handles(_some, len(_some)):
        for handle in _some[0:count]:
            thing = _read(handle)
            if thing is not None:
                handles.destroy(handle, type(thing))


# Looking


def _read(handle: int) -> Any:
    kind, capacity = ffi.new("uint32_t *"), 64
    while True:
        words = _new("int64_t[]", capacity)
        count = lib.acl_emu_read(handle, kind, words, capacity)
        if count <= capacity:
            break
        capacity = count
    return _value_of(handle, KINDS[kind[0]], bytes(ffi.buffer(words, 8 * count))) if kind[0] else None


def _value_of(handle: int, kind: type[Any], numbers: bytes) -> Any:
    if kind is Tensor:
        (address,) = struct.unpack_from("Q", numbers)
        return Tensor(_view_of(numbers[8:]), address or None)
    if kind is Scalar:
        dtype = dtypes.BY_CODE[struct.unpack_from("q", numbers)[0]]
        return Scalar(dtype, numbers[8 : 8 + dtype.itemsize])
    if kind is Executor:
        number, *addresses = struct.unpack(f"{len(numbers) // 8}Q", numbers)
        planned = plans.numbered.get(number)
        return planned and Executor(*planned, [address or None for address in addresses], handle)
    words = struct.unpack(f"{len(numbers) // 8}{'q' if kind is IntArray else 'Q'}", numbers)
    if kind is FloatArray:
        return FloatArray(struct.unpack(f"{len(words)}f", struct.pack(f"{len(words)}I", *words)))
    return BoolArray([word != 0 for word in words]) if kind is BoolArray else kind(words)


@lru_cache(maxsize=1 << 14)
def _view_of(numbers: bytes) -> View:
    """The view that a tensor of C has."""
    rank, _, dtype, format, offset, *rest = struct.unpack(f"{len(numbers) // 8}q", numbers)
    return make_view(rest[:rank], dtype, rest[rank : 2 * rank], offset, format, rest[2 * rank :])


def _count() -> dict[str, int]:
    counts = {kind.c_name: lib.acl_emu_alive(number) for number, kind in KINDS.items()}
    return {name: count for name, count in counts.items() if count}


# Streams


def remember_stream(handle: int | None) -> bool:
    """Let the calling thread use a stream from C, if it may; where it may not, whoever asks next is told why."""
    epoch = lib.acl_emu_epoch
    try:
        refuse_in_callback("putting work on a stream")
        stream = context.find_stream(handle)
    except AclError:
        return False
    if not stream.open_queue():
        return False
    lib.acl_emu_remember_stream(handle or 0, stream.queue, epoch)
    return True


def _open() -> None:
    """Calls need not come to Python as long as nobody watches."""
    lib.acl_emu_open = observe.watching is None


handles.read, handles.count = _read, _count
for _dtype in dtypes.BY_CODE.values():
    _bits = 8 if _dtype.kind == "other" else _dtype.bits  # as ``storage`` has them, which may need a module that most programs do not
    lib.acl_emu_set_dtype(_dtype.code, _bits, _dtype.itemsize if _dtype.code in dtypes.SCALAR_CODES else 0)
observe.on_change = _open
_open()
_fast.connect(int(ffi.cast("uintptr_t", lib.acl_emu_table())))
