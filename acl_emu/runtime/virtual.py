"""Virtual memory: addresses that are reserved first, physical memory that is mapped there later, and shared between processes.

Physical memory is a part of a file in memory, one for each device. A range of addresses is reserved twice, as all device memory is:
where the program sees it nothing can ever be accessed, and where kernels find it parts of the file are mapped. Several ranges may
map the same part.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Iterable

from acl_emu.core import constants as c
from acl_emu.core import handles, observe
from acl_emu.core._bridge import lib
from acl_emu.core.errors import AclError, DeviceFault, InvalidParam
from acl_emu.runtime import memory
from acl_emu.runtime.memory import HUGE_PAGE, Allocation, DeviceMemory, Run

_PROT_NONE, _PROT_RW = 0, 3
_MAP_SHARED_FIXED, _MAP_PRIVATE_ANONYMOUS_NORESERVE_FIXED = 0x11, 0x4032
_PUNCH_HOLE_KEEP_SIZE = 3

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def _map(address: int, size: int, protection: int, flags: int, file: int = -1, offset: int = 0) -> None:
    where = _libc.mmap(address, size, protection, flags, file, offset)
    if where != address:
        raise AclError(f"{size} bytes cannot be mapped: {os.strerror(ctypes.get_errno())}", c.ACL_ERROR_RT_MEMORY_ALLOCATION)


def rounded(size: int) -> int:
    """Up to whole huge pages, of which all virtual memory is made."""
    return -(-size // HUGE_PAGE) * HUGE_PAGE


# Physical memory


class _File:
    """The file that the physical memory of a device is parts of. Untouched parts cost nothing."""

    def __init__(self) -> None:
        self.number = os.memfd_create("acl-emu device memory", os.MFD_CLOEXEC)
        self.end = 0

    def add(self, size: int) -> int:
        """A new part: where it begins."""
        offset, self.end = self.end, self.end + size
        os.ftruncate(self.number, self.end)
        return offset


_files: dict[int, _File] = {}
_lock = threading.RLock()


class Physical:
    """An aclrtDrvMemHandle: memory without an address."""

    c_name = "aclrtDrvMemHandle"

    def __init__(self, region: DeviceMemory, size: int) -> None:
        region.take(rounded(size))
        self.device = region.device
        self.size = size
        self.mappings = 0
        self.owned = True
        """Whether the program still has its handle."""
        self._region: DeviceMemory | None = region
        with _lock:
            file = _files.get(region.device)
            if file is None:
                file = _files[region.device] = _File()
            self.file, self.offset = file.number, file.add(rounded(size))
        self.handle = handles.issue(self)

    def unmapped(self) -> None:
        """One mapping less."""
        with _lock:
            self.mappings -= 1
            self._end()

    def free(self) -> None:
        """The program gives its handle back; the memory lives as long as it is mapped."""
        with _lock:
            self.owned = False
            handles.retire(self.handle)
            self._end()

    def _end(self) -> None:
        if self.owned or self.mappings:
            return
        if self._region is None:
            os.close(self.file)
        else:
            _libc.fallocate(self.file, _PUNCH_HOLE_KEEP_SIZE, self.offset, rounded(self.size))
            self._region.give_back(rounded(self.size))


# Sharing

_SHARED = struct.Struct("=iqqiq")
"""What stands in the file that a shareable handle names: number of the memory's file, offset, size, device, whether anyone may import."""
_MOST_PIDS = 1024


def export(physical: Physical, *, for_anyone: bool) -> int:
    """A number by which this or another process imports the memory: which process, and which of its files says the rest."""
    described = os.memfd_create("acl-emu shared memory", os.MFD_CLOEXEC)
    os.write(described, _SHARED.pack(physical.file, physical.offset, physical.size, physical.device, for_anyone))
    return os.getpid() << 32 | described


def _described(shareable: int) -> str:
    return f"/proc/{shareable >> 32}/fd/{shareable & 0xFFFFFFFF}"


def _read(shareable: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What stands in the file, and which processes may import."""
    try:
        with open(_described(shareable), "rb", buffering=0) as file:
            content = os.pread(file.fileno(), _SHARED.size + 4 * _MOST_PIDS, 0)
        found = _SHARED.unpack(content[: _SHARED.size])
    except (OSError, struct.error):
        raise InvalidParam(f"shareableHandle is {shareable:#x}, which no living process has exported") from None
    rest = content[_SHARED.size :]
    return found, struct.unpack(f"={len(rest) // 4}i", rest)


def allow(shareable: int, pids: Iterable[int]) -> None:
    """Let processes import."""
    _, known = _read(shareable)
    every = {*known, *pids}
    if shareable >> 32 != os.getpid():
        raise InvalidParam(f"shareableHandle is {shareable:#x}, which another process has exported")
    if len(every) > _MOST_PIDS:
        raise InvalidParam(f"pid has {len(every)} processes, expected at most {_MOST_PIDS}")
    os.pwrite(shareable & 0xFFFFFFFF, struct.pack(f"={len(every)}i", *sorted(every)), _SHARED.size)


def load(shareable: int, device: int) -> Physical:
    """Memory that was exported, here or by another process."""
    (number, offset, size, _origin, for_anyone), allowed = _read(shareable)
    exporter = shareable >> 32
    if not for_anyone and exporter != os.getpid() and os.getpid() not in allowed:
        raise AclError(
            f"process {os.getpid()} may not import {shareable:#x}: aclrtMemSetPidToShareableHandle has not named it",
            c.ACL_ERROR_RT_NO_PERMISSION,
        )
    try:
        file = os.open(f"/proc/{exporter}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidParam(f"shareableHandle is {shareable:#x}, whose memory cannot be opened: {error.strerror}") from None
    made = Physical.__new__(Physical)
    made.device, made.size, made.file, made.offset = device, size, file, offset
    made.mappings, made.owned, made._region = 0, True, None
    made.handle = handles.issue(made)
    return made


# Addresses


class VirtualRange:
    """Addresses that a program has reserved."""

    def __init__(self, device: int, size: int) -> None:
        self.device = device
        self.size = size
        self.extent = rounded(size)
        self._reserved = [memory.reserve(self.extent + HUGE_PAGE, _PROT_NONE) for _ in range(2)]
        self.start, self._backing = (-(-address // HUGE_PAGE) * HUGE_PAGE for address in self._reserved)
        self.end = self.start + self.extent
        self.buffer = memoryview((ctypes.c_ubyte * self.extent).from_address(self._backing))
        self.mappings: dict[int, tuple[int, Physical]] = {}
        """By address: size, and what is mapped there."""
        self._runs: list[Run] = []
        self.overreads: list[str] = []
        with _lock:
            memory.virtual_ranges.append(self)
        lib.acl_emu_watch_faults(self.start, self.end, device)

    def map(self, address: int, size: int, physical: Physical) -> None:
        """Give addresses memory."""
        extent = rounded(size)
        with _lock:
            for other, (length, _) in self.mappings.items():
                if address < other + rounded(length) and other < address + extent:
                    raise InvalidParam(f"virPtr is {address:#x}, where {length} bytes at {other:#x} are mapped already")
            _map(self._at(address), extent, _PROT_RW, _MAP_SHARED_FIXED, physical.file, physical.offset)
            self.mappings[address] = size, physical
            physical.mappings += 1
            self._join(address, address + extent)
        if observe.watching is not None:
            observe.watching.tell("mapped", self, address, extent)

    def unmap(self, address: int) -> bool:
        """Take memory from addresses; False where nothing is mapped at this one."""
        with _lock:
            found = self.mappings.pop(address, None)
            if found is None:
                return False
            size, physical = found
            extent = rounded(size)
            if observe.watching is not None:
                observe.watching.tell("unmapped", self, address, extent)
            self._part(address, address + extent)
            _map(self._at(address), extent, _PROT_NONE, _MAP_PRIVATE_ANONYMOUS_NORESERVE_FIXED)
            physical.unmapped()
        return True

    def close(self) -> None:
        """Give the addresses back."""
        with _lock:
            memory.virtual_ranges.remove(self)
            lib.acl_emu_unwatch_faults(self.start)
            try:
                self.buffer.release()
            except BufferError:  # an array lies there still
                return
            for address in self._reserved:
                _libc.munmap(address, self.extent + HUGE_PAGE)

    def _at(self, address: int) -> int:
        return self._backing + (address - self.start)

    def _join(self, first: int, end: int) -> None:
        """A new run, or a longer one."""
        before = next((run for run in self._runs if run.end == first), None)
        after = next((run for run in self._runs if run.first == end), None)
        if before is None:
            before = Run(first, end, self._backing - self.start)
            self._runs.append(before)
        if after is not None:
            before.end = after.end
            self._runs.remove(after)
            after.close()
        else:
            before.end = end

    def _part(self, first: int, end: int) -> None:
        """What is left of the run around a piece that goes."""
        run = next(run for run in self._runs if run.first <= first and end <= run.end)
        if end < run.end:
            self._runs.append(Run(end, run.end, self._backing - self.start))
        if first > run.first:
            run.end = first
        else:
            self._runs.remove(run)
            run.close()

    # As all device memory

    def _mapping(self, address: int) -> tuple[int, int] | None:
        for first, (size, _) in list(self.mappings.items()):
            if first <= address < first + rounded(size):
                return first, size
        return None

    def locate(self, address: int, size: int) -> int:
        """Where kernels find ``size`` bytes at ``address``; raises where not all of them are mapped."""
        if not any(run.first <= address and address + size <= run.end for run in list(self._runs)):
            raise DeviceFault(f"device {self.device}: {size} bytes at {address:#x} are not all mapped; {self.describe(address)}")
        return self._at(address)

    def find(self, address: int) -> Allocation | None:
        """The mapping that holds ``address``."""
        found = self._mapping(address)
        return None if found is None else Allocation(found[0], found[1], rounded(found[1]), c.ACL_MEM_MALLOC_HUGE_ONLY, 0)

    def free(self, address: int) -> bool:
        """aclrtFree does not give mapped memory back."""
        return False

    def describe(self, address: int) -> str:
        """What lies at an address, for messages."""
        found = self._mapping(address)
        where = f"it is byte {address - self.start} of the reserved range of {self.size} bytes at {self.start:#x}"
        return where + (", where nothing is mapped" if found is None else f", where {found[1]} bytes are mapped at {found[0]:#x}")

    def note_overread(self, call: str, address: int, size: int) -> None:
        """What leaves mapped memory has failed before; neighbours are one piece."""


def range_at(address: int) -> VirtualRange | None:
    """The reserved range that an address lies in."""
    found = memory.region_of(address)
    return found if isinstance(found, VirtualRange) else None
