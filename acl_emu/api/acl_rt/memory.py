"""Memory: allocating and freeing on both sides, copying, filling, asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import DevicePointer, Handle, HostAddress, HostPointer, acl, check_buffer, host_address, structure
from acl_emu.core import constants as c
from acl_emu.core import observe, soc
from acl_emu.core._bridge import lib
from acl_emu.core.errors import AclError, DeviceFault, FeatureNotSupport, InvalidParam, NullParam, RtParamInvalid
from acl_emu.runtime import capture, context, memory
from acl_emu.runtime.callbacks import refuse_in_callback

_HUGE_1G = (c.ACL_MEM_MALLOC_HUGE1G_ONLY, c.ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)


class DriverError(AclError):
    """The driver met memory that does not exist."""

    code = c.ACL_ERROR_RT_DRV_INTERNAL_ERROR
    tag, title = "EE9999", "Inner_Error"


@acl(HEADER, "aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy)")
def aclrtMalloc(size: int, policy: int) -> DevicePointer:
    """Device memory, not zeroed; a little more than asked for on most chips."""
    return _allocate(size, policy, 0 if policy in _HUGE_1G else soc.current().padding)


@acl(HEADER, "aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy)")
def aclrtMallocAlign32(size: int, policy: int) -> DevicePointer:
    """Device memory without the padding."""
    return _allocate(size, policy, 0)


@acl(HEADER, "aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy)")
def aclrtMallocCached(size: int, policy: int) -> DevicePointer:
    """Device memory that the host may cache; there is no difference here."""
    return _allocate(size, policy, soc.current().padding)


def _allocate(size: int, policy: int, padding: int) -> DevicePointer:
    if not 0 < size < 1 << 63:
        raise InvalidParam(f"size is {size}, expected a positive number of bytes")
    return _ready().device.memory.allocate(size, padding, policy)


def _ready() -> context.Context:
    """The calling thread's context. From now on C knows that there is one, and what to allocate from."""
    epoch = lib.acl_emu_epoch
    found = context.current()
    if observe.watching is None and not capture.is_active():
        lib.acl_emu_remember_memory(found.device.memory.in_c, soc.current().padding, epoch)
    return found


@acl(HEADER, "aclError aclrtFree(void* devPtr)")
def aclrtFree(devPtr: DevicePointer) -> None:
    """Give device memory back at once, whatever is still queued."""
    if not devPtr:
        raise NullParam("devPtr must not be a null pointer")
    region = memory.region_of(devPtr)
    if region is None:
        raise RtParamInvalid(f"devPtr is {devPtr:#x}, which is not device memory")
    if not region.free(devPtr):
        raise RtParamInvalid(f"devPtr is {devPtr:#x}, not the start of a living allocation; {region.describe(devPtr)}")


@acl(HEADER, "aclError aclrtMallocHost(void** hostPtr, size_t size)")
def aclrtMallocHost(size: int) -> HostAddress:
    """Page-locked host memory, not zeroed."""
    if not 0 < size < 1 << 63:
        raise InvalidParam(f"size is {size}, expected a positive number of bytes")
    context.current()
    return memory.host.allocate(size)


@acl(HEADER, "aclError aclrtFreeHost(void* hostPtr)")
def aclrtFreeHost(hostPtr: HostAddress) -> None:
    """Give page-locked host memory back."""
    if not hostPtr:
        raise NullParam("hostPtr must not be a null pointer")
    if not memory.host.free(hostPtr):
        raise RtParamInvalid(f"hostPtr is {hostPtr:#x}, not the start of a living aclrtMallocHost")


# Copies

_SYNC_KINDS = (
    c.ACL_MEMCPY_HOST_TO_HOST,
    c.ACL_MEMCPY_HOST_TO_DEVICE,
    c.ACL_MEMCPY_DEVICE_TO_HOST,
    c.ACL_MEMCPY_DEVICE_TO_DEVICE,
    c.ACL_MEMCPY_DEFAULT,
    c.ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE,
)
_ASYNC_KINDS = (*_SYNC_KINDS, c.ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, c.ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)

# Where a pointer of plain host memory is involved, the kinds that may be named: (from, to) -> kinds. Known memory corrects the kind.
_UNREGISTERED_KINDS = {
    ("unregistered", "device"): (c.ACL_MEMCPY_HOST_TO_DEVICE, c.ACL_MEMCPY_DEVICE_TO_DEVICE),
    ("device", "unregistered"): (c.ACL_MEMCPY_DEVICE_TO_HOST, c.ACL_MEMCPY_DEVICE_TO_DEVICE),
    ("host", "unregistered"): (c.ACL_MEMCPY_HOST_TO_HOST, c.ACL_MEMCPY_HOST_TO_DEVICE),
    ("unregistered", "host"): (c.ACL_MEMCPY_HOST_TO_HOST, c.ACL_MEMCPY_DEVICE_TO_HOST),
    ("unregistered", "unregistered"): _ASYNC_KINDS,
}


def _place(address: int) -> str:
    if memory.region_of(address) is not None:
        return "device"
    return "unregistered" if memory.host.find(address) is None else "host"


class Copy(NamedTuple):
    """Rows of bytes to move."""

    call: str
    target: int
    source: int
    width: int
    height: int = 1
    target_pitch: int = 0
    source_pitch: int = 0

    def run(self) -> None:
        """Move the bytes; what leaves its allocation but not the device is only remembered."""
        for address, pitch in ((self.target, self.target_pitch), (self.source, self.source_pitch)):
            region = memory.region_of(address)
            if region is not None:  # all rows, or the far ones could lie in other memory
                region.locate(address, (self.height - 1) * pitch + self.width)
        for row in range(self.height):
            target, source = self.target + row * self.target_pitch, self.source + row * self.source_pitch
            for address in (target, source):
                region = memory.region_of(address)
                if region is not None:
                    region.note_overread(self.call, address, self.width)
            memory.move(target, source, self.width)

    def describe(self) -> observe.Work:
        """What it reads and writes, for whoever watches."""

        def rows(name: str, address: int, pitch: int) -> observe.Span:
            return observe.Span(name, address, (self.height, self.width), (pitch, 1), 1)

        return observe.Work(
            "copy", self.call, (rows("src", self.source, self.source_pitch),), (rows("dst", self.target, self.target_pitch),)
        )

    def at_once(self) -> None:
        """A copy that the host makes itself."""
        _tell_host_access(self.describe)
        self.now()

    def now(self) -> None:
        """Move the bytes; a bad address is the driver's error."""
        try:
            self.run()
        except (DeviceFault, memory.BadAddress) as error:
            raise DriverError(f"{self.call}: {error}") from None


def _tell_host_access(describe: Callable[[], observe.Work]) -> None:
    if observe.watching is not None:
        work = describe()
        work.call = observe.current_call()
        observe.watching.tell("host_accesses", work)


def _check_pointers(call: str, target: int, source: int, kind: int, kinds: tuple[int, ...]) -> None:
    if not target:
        raise NullParam("dst must not be a null pointer")
    if not source:
        raise NullParam("src must not be a null pointer")
    if kind not in kinds:
        raise InvalidParam(f"kind is {kind}, expected one of {list(kinds)} for {call}")


def _check_capacity(capacity: int, count: int, names: tuple[str, str] = ("destMax", "count")) -> None:
    if not 0 < count <= capacity:
        raise RtParamInvalid(f"{names[1]} is {count}, expected at most {names[0]} ({capacity})")


def _check_buffers(dst: HostPointer, dst_size: int, src: HostPointer, src_size: int) -> None:
    check_buffer(dst, "dst", dst_size, written=True)
    check_buffer(src, "src", src_size)


@acl(HEADER, "aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind)")
def aclrtMemcpy(dst: HostPointer, destMax: int, src: HostPointer, count: int, kind: int) -> None:
    """Copy at once, without waiting for any stream; the addresses decide the direction."""
    if count == 0:
        return
    target, source = host_address(dst, "dst"), host_address(src, "src")
    _check_pointers("aclrtMemcpy", target, source, kind, _SYNC_KINDS)
    _check_capacity(destMax, count)
    _check_buffers(dst, count, src, count)
    if target == source:
        return
    _ready()
    capture.refuse("aclrtMemcpy")
    Copy("aclrtMemcpy", target, source, count).at_once()


@acl(
    HEADER, "aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream)"
)
def aclrtMemcpyAsync(dst: HostPointer, destMax: int, src: HostPointer, count: int, kind: int, stream: Handle) -> None:
    """Queue a copy; plain host memory makes it wait for the stream and copy at once."""
    if count == 0:
        context.check_stream(stream)
        return
    target, source = host_address(dst, "dst"), host_address(src, "src")
    _check_pointers("aclrtMemcpyAsync", target, source, kind, _ASYNC_KINDS)
    _check_capacity(destMax, count)
    _check_buffers(dst, count, src, count)
    _queue_copy(Copy("aclrtMemcpyAsync", target, source, count), kind, stream)


def _while_host_memory_lives(call: str, task: Callable[[], None], *addresses: int) -> Callable[[], None]:
    """Page-locked memory that is freed before its queued task has run may belong to someone else by then."""
    used = [block for address in addresses if (block := memory.host.find(address)) is not None]

    def run() -> None:
        with memory.host.kept(used) as alive:
            if not alive:
                raise DriverError(f"{call}: page-locked host memory was freed before the queued work ran")
            task()

    return run if used else task


def _queue_copy(copy: Copy, kind: int, stream_handle: Handle) -> None:
    stream = context.find_stream(stream_handle)
    places = _place(copy.source), _place(copy.target)
    allowed = _UNREGISTERED_KINDS.get(places)
    if allowed is not None and kind != c.ACL_MEMCPY_DEFAULT and kind not in allowed:
        raise RtParamInvalid(f"kind is {kind}, expected one of {list(allowed)} from {places[0]} to {places[1]} memory")
    if places == ("host", "host") or (places[0] != "device" != places[1] and kind == c.ACL_MEMCPY_HOST_TO_HOST):
        raise FeatureNotSupport("a queued copy from host to host is not supported")
    if "unregistered" in places:
        refuse_in_callback(f"{copy.call} with plain host memory")
        capture.refuse(f"{copy.call} with plain host memory", c.ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC)
        capture.refuse_stream(stream, f"{copy.call} with plain host memory")
        stream.wait_for_host(stream.submitted)
        copy.at_once()
    else:
        task = _while_host_memory_lives(copy.call, copy.now, copy.source, copy.target)
        stream.submit(task, copy.describe() if observe.watching is not None else None, size=2 * copy.width * copy.height)


@acl(
    HEADER,
    "aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind)",
)
def aclrtMemcpy2d(dst: HostPointer, dpitch: int, src: HostPointer, spitch: int, width: int, height: int, kind: int) -> None:
    """Copy ``height`` rows of ``width`` bytes at once."""
    copy = _rows("aclrtMemcpy2d", dst, dpitch, src, spitch, width, height, kind, _SYNC_KINDS)
    if copy.height:
        context.current()
        capture.refuse("aclrtMemcpy2d")
        copy.at_once()


@acl(
    HEADER,
    "aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, "
    "aclrtMemcpyKind kind, aclrtStream stream)",
)
def aclrtMemcpy2dAsync(
    dst: HostPointer, dpitch: int, src: HostPointer, spitch: int, width: int, height: int, kind: int, stream: Handle
) -> None:
    """Queue a copy of ``height`` rows of ``width`` bytes."""
    copy = _rows("aclrtMemcpy2dAsync", dst, dpitch, src, spitch, width, height, kind, _ASYNC_KINDS)
    if copy.height:
        _queue_copy(copy, kind, stream)
    else:
        context.check_stream(stream)


def _rows(
    call: str, dst: HostPointer, dpitch: int, src: HostPointer, spitch: int, width: int, height: int, kind: int, kinds: tuple[int, ...]
) -> Copy:
    if width == 0 or height == 0:
        return Copy(call, 0, 0, 0, 0)
    target, source = host_address(dst, "dst"), host_address(src, "src")
    _check_pointers(call, target, source, kind, kinds)
    if width < 0 or height < 0 or width > dpitch or width > spitch:
        raise InvalidParam(f"width is {width}, expected at most dpitch ({dpitch}) and spitch ({spitch})")
    _check_buffers(dst, (height - 1) * dpitch + width, src, (height - 1) * spitch + width)
    return Copy(call, target, source, width, height, dpitch, spitch)


class Fill(NamedTuple):
    """Bytes to set."""

    call: str
    address: int
    value: int
    size: int

    def describe(self) -> observe.Work:
        """What it writes, for whoever watches."""
        return observe.Work("fill", self.call, writes=(observe.Span.flat("devPtr", self.address, self.size),))

    def now(self) -> None:
        """Set the bytes; what leaves its allocation but not the device is only remembered."""
        region = memory.region_of(self.address)
        if region is not None:
            region.note_overread(self.call, self.address, self.size)
        try:
            memory.fill(self.address, self.value & 0xFF, self.size)
        except (DeviceFault, memory.BadAddress) as error:
            raise DriverError(f"{self.call}: {error}") from None


@acl(HEADER, "aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count)")
def aclrtMemset(devPtr: HostPointer, maxCount: int, value: int, count: int) -> None:
    """Fill device memory or page-locked host memory with a byte, at once."""
    if count:
        address = _fill_address(devPtr)
        context.current()  # before the size, which the driver looks at
        fill = _checked_fill("aclrtMemset", devPtr, address, maxCount, value, count)
        capture.refuse("aclrtMemset")
        _tell_host_access(fill.describe)
        fill.now()


@acl(HEADER, "aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)")
def aclrtMemsetAsync(devPtr: HostPointer, maxCount: int, value: int, count: int, stream: Handle) -> None:
    """Queue a fill."""
    if count:
        fill = _checked_fill("aclrtMemsetAsync", devPtr, _fill_address(devPtr), maxCount, value, count)
        task = _while_host_memory_lives(fill.call, fill.now, fill.address)
        context.find_stream(stream).submit(task, fill.describe() if observe.watching is not None else None, size=count)
    else:
        context.check_stream(stream)


def _fill_address(pointer: HostPointer) -> int:
    address = host_address(pointer, "devPtr")
    if not address:
        raise NullParam("devPtr must not be a null pointer")
    return address


def _checked_fill(call: str, pointer: HostPointer, address: int, capacity: int, value: int, count: int) -> Fill:
    _check_capacity(capacity, count, ("maxCount", "count"))
    check_buffer(pointer, "devPtr", count, written=True)
    return Fill(call, address, value, count)


# Questions

_DDR = (c.ACL_DDR_MEM, c.ACL_DDR_MEM_HUGE, c.ACL_DDR_MEM_NORMAL)
_HBM = (c.ACL_HBM_MEM, c.ACL_HBM_MEM_HUGE, c.ACL_HBM_MEM_NORMAL)
_EITHER = (c.ACL_MEM_NORMAL, c.ACL_MEM_HUGE)


@acl(HEADER, "aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total)")
def aclrtGetMemInfo(attr: int) -> tuple[int, int]:
    """Free and total bytes of a kind of memory; a kind that the chip lacks has none."""
    if not c.ACL_DDR_MEM <= attr <= c.ACL_MEM_P2P_HUGE1G:
        raise AclError(f"attr is {attr}, expected a value of aclrtMemAttr", c.ACL_ERROR_RT_INVALID_MEMORY_TYPE)
    region = context.current().device.memory
    has = (*_HBM, *_EITHER) if soc.current().hbm else (*_HBM, *_DDR, *_EITHER)
    return (region.free_bytes, region.capacity) if attr in has else (0, 0)


@structure("aclrtPtrAttributes", "=IiI16x")
@dataclass(frozen=True)
class PtrAttributes:
    """aclrtPtrAttributes: where an address lies."""

    id: int
    type: int
    pageSize: int


@acl(HEADER, "aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes)")
def aclrtPointerGetAttributes(ptr: HostPointer) -> PtrAttributes:
    """Where an address lies: device, page-locked host, or memory the runtime does not know."""
    address = host_address(ptr, "ptr")
    if not address:
        raise NullParam("ptr must not be a null pointer")
    region = memory.region_of(address)
    if region is None:
        known = memory.host.find(address) is not None
        return PtrAttributes(0, c.ACL_MEM_LOCATION_TYPE_HOST if known else c.ACL_MEM_LOCATION_TYPE_UNREGISTERED, 4096)
    allocation = region.find(address)
    page = memory.HUGE_PAGE if allocation is not None and allocation.size > 1 << 20 else 4096
    return PtrAttributes(region.device, c.ACL_MEM_LOCATION_TYPE_DEVICE, page)
