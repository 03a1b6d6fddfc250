"""Device memory: allocate, free, find the allocation of an address, copy. What is allocated is known in C (``c/memory.c``).

Each device owns a range of addresses that the program sees, in which nothing can be read or written, and another one of the same size
for kernels, a fixed distance away. Untouched memory costs nothing. Freed memory mostly keeps its bytes and is handed out again as it is.
A device address that the host dereferences by mistake stops the program with a message that explains it (see ``c/faults.c``).
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from acl_emu.core import constants as c
from acl_emu.core import observe
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.errors import AclError, DeviceFault, OutOfMemory

ALIGNMENT = 512
"""Of device addresses. The document promises 64, devices give 512, and programs rely on more than 64."""
HOST_ALIGNMENT = 64
HUGE_PAGE = 2 << 20
_PROT_NONE, _PROT_RW = 0, 3
_MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x4022

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.aligned_alloc.restype = ctypes.c_void_p
_libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]


def reserve(size: int, protection: int) -> int:
    """Addresses that nobody else gets; untouched ones cost nothing."""
    address = _libc.mmap(None, size, protection, _MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        raise OutOfMemory(
            f"cannot reserve {size >> 30} GiB of address space for a device: {os.strerror(ctypes.get_errno())}; "
            "lift the limit on virtual memory (ulimit -v) or choose a smaller chip with ACL_EMU_SOC"
        )
    return int(address)


@dataclass(frozen=True)
class Allocation:
    """One living aclrtMalloc."""

    address: int
    size: int
    """What was asked for."""
    extent: int
    """What belongs to it, padding included."""
    policy: int
    number: int
    """No other allocation of the device has it."""

    @staticmethod
    def of(found: Any) -> Allocation:
        """As C has it."""
        return Allocation(found.address, found.size, found.extent, found.policy, found.number)


available: int | None = None
"""How much of a device's memory may be used, where that is less than it has: the rest counts as taken by others."""


class DeviceMemory:
    """The memory of one device."""

    def __init__(self, device: int, capacity: int) -> None:
        self.device = device
        self.capacity = capacity
        self.start = reserve(capacity, _PROT_NONE)
        self.end = self.start + capacity
        self._backing = reserve(capacity, _PROT_RW)
        self.buffer = memoryview((ctypes.c_ubyte * capacity).from_address(self._backing))
        usable = capacity if available is None else min(capacity, available)
        self.in_c = lib.acl_emu_memory_new(self.start, self.end, self._backing, usable)
        """What is allocated, and what is free."""
        if not self.in_c:
            raise OutOfMemory(f"device {device}: no room for its memory")
        self._usage = lib.acl_emu_memory_usage(self.in_c)
        self.overreads: list[str] = []
        """Copies that left their allocation: legal-looking on a device, remembered for the checker."""
        _regions.append(self)
        _regions.sort(key=lambda region: region.start)
        _publish_regions()
        lib.acl_emu_watch_faults(self.start, self.end, device)

    def allocate(self, size: int, padding: int, policy: int) -> int:
        """Set ``size`` bytes aside (rounded up to 32, plus padding) and return their device address."""
        address: int = lib.acl_emu_memory_allocate(self.in_c, size, padding, policy)
        if not address:
            limit = "" if self._usage.available == self.capacity else f" (ACL_EMU_FAULT leaves {self._usage.available})"
            raise OutOfMemory(f"device {self.device}: no room for {size} bytes, {self.free_bytes} of {self.capacity} are free{limit}")
        if observe.watching is not None:
            observe.watching.tell("allocated", self, self._nearest_below(address))
        return address

    def close(self) -> None:
        """Give everything back to the operating system: addresses mean nothing any more."""
        for allocation in self.addresses():
            self.free(allocation)
        _regions.remove(self)
        _publish_regions()
        lib.acl_emu_unwatch_faults(self.start)
        lib.acl_emu_memory_close(self.in_c)
        try:
            self.buffer.release()
        except BufferError:  # an array lies there still
            return
        for address in (self.start, self._backing):
            _libc.munmap(address, self.capacity)

    def take(self, size: int) -> None:
        """Count memory that is allocated without an address."""
        if not lib.acl_emu_memory_take(self.in_c, size):
            raise OutOfMemory(f"device {self.device}: no room for {size} bytes, {self.free_bytes} of {self.capacity} are free")

    def give_back(self, size: int) -> None:
        """The opposite."""
        lib.acl_emu_memory_take(self.in_c, -size)

    def addresses(self) -> list[int]:
        """Where living allocations begin."""
        capacity = 64
        while True:
            found = ffi.new("uint64_t[]", capacity)
            count = lib.acl_emu_memory_addresses(self.in_c, found, capacity)
            if count <= capacity:
                return ffi.unpack(found, count) if count else []
            capacity = count

    @property
    def used(self) -> int:
        """Bytes that are allocated."""
        return int(self._usage.used)

    @property
    def peak(self) -> int:
        """The most that there were."""
        return int(self._usage.peak)

    @property
    def free_bytes(self) -> int:
        """How much can still be given out."""
        return int(self._usage.available - self._usage.used)

    def free(self, address: int) -> bool:
        """Give an allocation back; False where ``address`` is not the start of a living one."""
        freed = ffi.new("acl_emu_allocation *")
        done = bool(lib.acl_emu_memory_free(address, freed))
        if done and observe.watching is not None:
            observe.watching.tell("freed", self, Allocation.of(freed))
        return done

    def find(self, address: int) -> Allocation | None:
        """The living allocation that holds ``address``."""
        allocation = self._nearest_below(address)
        return allocation if allocation and address < allocation.address + allocation.extent else None

    def _nearest_below(self, address: int) -> Allocation | None:
        found = ffi.new("acl_emu_allocation *")
        if not lib.acl_emu_memory_find(self.in_c, address, found):
            return None
        return Allocation.of(found)

    @property
    def mapped_end(self) -> int:
        """The first address behind mapped memory. An access past its allocation is seen by nobody as long as it stays before."""
        return int(self._usage.mapped_end)

    def locate(self, address: int, size: int) -> int:
        """Where kernels find ``size`` bytes at ``address``; raises where they are not in mapped memory."""
        if address + size > self.mapped_end:
            raise DeviceFault(
                f"device {self.device}: {size} bytes at {address:#x} leave mapped device memory "
                f"[{self.start:#x}, {self.mapped_end:#x}); {self.describe(address)}"
            )
        return self._backing + (address - self.start)

    def describe(self, address: int) -> str:
        """What lies at an address, for messages."""
        allocation = self.find(address)
        if allocation:
            return f"it is byte {address - allocation.address} of the allocation of {allocation.size} bytes at {allocation.address:#x}"
        before = self._nearest_below(address)
        if before:
            past = address - before.address - before.size
            return f"no allocation holds it; the nearest below ends {past} bytes before ({before.size} bytes at {before.address:#x})"
        return "no allocation holds it"

    def note_overread(self, call: str, address: int, size: int) -> None:
        """Remember a copy that leaves its allocation."""
        allocation = self.find(address)
        inside = allocation is not None and address + size <= allocation.address + allocation.extent
        if not inside and len(self.overreads) < 1000:
            self.overreads.append(f"{call}: {size} bytes at {address:#x}; {self.describe(address)}")


_regions: list[DeviceMemory] = []
_MOST_REGIONS = 64
_MOST_RUNS = 4096
REGION_TABLE = (ctypes.c_int64 * (1 + 3 * (_MOST_REGIONS + _MOST_RUNS)))()
"""For C: how many entries; of each the first address, the end of mapped memory, and the distance to where kernels find it.

First those of devices, then mapped runs of virtual ranges, which come and go while kernels look others up: an entry that holds
nothing ends where addresses begin, and of one that changes the end is written last.
"""
lib.acl_emu_set_regions(ffi.cast("int64_t *", ctypes.addressof(REGION_TABLE)))


def _publish_regions() -> None:
    for index, region in enumerate(_regions[:_MOST_REGIONS]):
        REGION_TABLE[1 + 3 * index : 4 + 3 * index] = [region.start, region.mapped_end, region._backing - region.start]
    for index in range(len(_regions), _MOST_REGIONS):
        REGION_TABLE[2 + 3 * index] = 0
    REGION_TABLE[0] = max(REGION_TABLE[0], min(len(_regions), _MOST_REGIONS))


class Run:
    """A run of mapped memory in a virtual range, as C knows it."""

    _unused: ClassVar[list[int]] = list(range(_MOST_REGIONS + _MOST_RUNS - 1, _MOST_REGIONS - 1, -1))

    def __init__(self, first: int, end: int, distance: int) -> None:
        if not self._unused:
            raise AclError(f"more than {_MOST_RUNS} separate runs of mapped memory", c.ACL_ERROR_RT_RESOURCE_ALLOC_FAIL)
        self.first = first
        self._slot = self._unused.pop()
        place = 1 + 3 * self._slot
        REGION_TABLE[place], REGION_TABLE[place + 2] = first, distance
        REGION_TABLE[0] = max(REGION_TABLE[0], self._slot + 1)
        self.end = end

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self._end

    @end.setter
    def end(self, end: int) -> None:
        self._end = end
        REGION_TABLE[2 + 3 * self._slot] = end

    def close(self) -> None:
        """C knows it no more."""
        self.end = 0
        self._unused.append(self._slot)


def regions() -> list[DeviceMemory]:
    """The memory of every device that has been used."""
    return list(_regions)


class Region(Protocol):
    """Addresses of a device."""

    device: int
    start: int
    end: int
    buffer: memoryview

    def locate(self, address: int, size: int) -> int:
        """Where kernels find ``size`` bytes at ``address``; raises where they are not in mapped memory."""

    def find(self, address: int) -> Allocation | None:
        """The living allocation that holds ``address``."""

    def free(self, address: int) -> bool:
        """Give an allocation back; False where ``address`` is not the start of a living one."""

    def describe(self, address: int) -> str:
        """What lies at an address, for messages."""

    def note_overread(self, call: str, address: int, size: int) -> None:
        """Remember a copy that leaves its allocation."""


virtual_ranges: list[Region] = []
"""Addresses that programs have reserved: see ``virtual.py``."""


def region_of(address: int) -> Region | None:
    """The device memory that an address belongs to; None for host memory."""
    for region in _regions:
        if region.start <= address < region.end:
            return region
    for virtual in virtual_ranges:
        if virtual.start <= address < virtual.end:
            return virtual
    return None


def holds(address: int, size: int) -> bool:
    """Whether ``size`` bytes at an address are mapped device memory."""
    return bool(lib.acl_emu_holds(address, size))


def array_at(address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Device memory as an array that kernels can use. Raises a DeviceFault for a bad address."""
    return strided_array_at(address, math.prod(shape) * dtype.itemsize, shape, dtype)


def strided_array_at(
    address: int, extent: int, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...] | None = None
) -> npt.NDArray[Any]:
    """The same for an array whose elements lie within ``extent`` bytes, ``strides`` apart."""
    region = region_of(address)
    if region is None:
        raise DeviceFault(f"address {address:#x} is not device memory")
    region.locate(address, extent)
    return np.ndarray(shape, dtype, region.buffer, address - region.start, strides)


# Host memory


@dataclass(eq=False)
class HostBlock:
    """One living aclrtMallocHost."""

    address: int
    size: int
    margin: int = 0
    """Bytes before it that belong to it; behind it there are at least as many."""
    users: set[object] = field(default_factory=set)
    """Copies that are under way."""

    def damage(self) -> int | None:
        """The first byte outside, counted from its start, that somebody has written; None where nobody has."""
        for first in (-self.margin, self.size):
            found = ctypes.string_at(self.address + first, self.margin)
            if found != _UNTOUCHED * self.margin:
                return first + next(place for place, byte in enumerate(found) if byte != _UNTOUCHED[0])
        return None


_UNTOUCHED = b"\xa5"


class HostMemory:
    """Page-locked host memory: aclrtMallocHost."""

    def __init__(self) -> None:
        self.margin = 0
        """Bytes before and behind new blocks by which writing outside can be noticed: a multiple of the alignment."""
        self._lock = threading.Lock()
        self._unused = threading.Condition(self._lock)
        self._blocks: dict[int, HostBlock] = {}

    def allocate(self, size: int) -> int:
        """A new block, aligned to 64 bytes."""
        margin = self.margin
        start = _libc.aligned_alloc(HOST_ALIGNMENT, -(-(size + 2 * margin) // HOST_ALIGNMENT) * HOST_ALIGNMENT)
        if not start:
            raise OutOfMemory(f"no room for {size} bytes of host memory")
        address = int(start) + margin
        for first in (address - margin, address + size):
            ctypes.memset(first, _UNTOUCHED[0], margin)
        with self._lock:
            self._blocks[address] = HostBlock(address, size, margin)
        return address

    def free(self, address: int) -> bool:
        """Give a block back, after a copy that is under way; False where ``address`` is not the start of a living one."""
        with self._lock:
            known = self._blocks.pop(address, None)
            if known is not None:
                self._unused.wait_for(lambda: not known.users)
        if known is not None:
            _libc.free(address - known.margin)
        return known is not None

    def find(self, address: int) -> HostBlock | None:
        """The living block that an address lies in."""
        with self._lock:
            return next((block for block in self._blocks.values() if block.address <= address < block.address + block.size), None)

    @contextmanager
    def kept(self, blocks: Sequence[HostBlock]) -> Iterator[bool]:
        """Keep blocks from being freed for a while; False where one of them has been freed before."""
        user = object()
        try:
            with self._lock:
                alive = all(self._blocks.get(block.address) is block for block in blocks)
                for block in blocks:
                    block.users.add(user)
            yield alive
        finally:
            with self._lock:
                for block in blocks:
                    block.users.discard(user)
                self._unused.notify_all()

    def addresses(self) -> list[int]:
        """Where living blocks begin."""
        with self._lock:
            return list(self._blocks)

    @property
    def count(self) -> int:
        """How many blocks are alive."""
        return len(self._blocks)


host = HostMemory()


class _Iovec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class BadAddress(AclError):
    """Memory that does not exist; the caller of the copy decides on the code."""


def _kernel_copy(function: str, local: int, remote: int, size: int) -> bool:
    """Copy through the operating system, which reports a bad address instead of stopping the process."""
    done = 0
    while done < size:
        part = min(size - done, 1 << 30)
        here, there = _Iovec(local + done, part), _Iovec(remote + done, part)
        copied = getattr(_libc, function)(
            os.getpid(), ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1), ctypes.c_ulong(0)
        )
        if copied <= 0:
            return False
        done += copied
    return True


_libc.process_vm_readv.restype = ctypes.c_ssize_t
_libc.process_vm_writev.restype = ctypes.c_ssize_t
# Where a sandbox forbids these calls a bad host pointer stops the process, as it would without an emulator.
_probe = ctypes.create_string_buffer(2)
_GUARDED = _kernel_copy("process_vm_readv", ctypes.addressof(_probe), ctypes.addressof(_probe) + 1, 1)


def move(target: int, source: int, size: int) -> None:
    """Copy ``size`` bytes between any two addresses, host or device. Overlapping is allowed; a bad address raises."""
    source_region, target_region = region_of(source), region_of(target)
    real_source = source_region.locate(source, size) if source_region else source
    real_target = target_region.locate(target, size) if target_region else target
    if not _GUARDED or (source_region and target_region):
        ctypes.memmove(real_target, real_source, size)
    elif source_region:
        if not _kernel_copy("process_vm_writev", real_source, real_target, size):
            raise BadAddress(f"{size} bytes at {target:#x} are not writable host memory")
    elif not _kernel_copy("process_vm_readv", real_target, real_source, size):
        raise BadAddress(f"{size} bytes from {source:#x} to {target:#x}: not readable, or not writable, host memory")


def fill(target: int, value: int, size: int) -> None:
    """Set ``size`` bytes, host or device."""
    region = region_of(target)
    if region:
        ctypes.memset(region.locate(target, size), value, size)
        return
    block = bytes([value]) * min(size, 1 << 20)
    pattern = ctypes.create_string_buffer(block, len(block))
    for done in range(0, size, len(block)):
        move(target + done, ctypes.addressof(pattern), min(len(block), size - done))
