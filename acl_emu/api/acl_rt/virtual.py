"""Virtual memory: reserving addresses, allocating physical memory, mapping it there, sharing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import DevicePointer, Handle, HostPointer, acl, structure, values_of
from acl_emu.core import constants as c
from acl_emu.core import handles
from acl_emu.core.errors import FeatureNotSupport, InvalidParam, NullParam
from acl_emu.runtime import context, virtual
from acl_emu.runtime.memory import HUGE_PAGE
from acl_emu.runtime.virtual import Physical, VirtualRange

_DEVICE_ATTRIBUTES = range(c.ACL_DDR_MEM, c.ACL_MEM_P2P_HUGE1G + 1)
_GRANULARITIES = (c.ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, c.ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
_RESERVE_FLAGS = (0, 1)


@structure("aclrtPhysicalMemProp", "=iiiIi4xQ")
@dataclass(frozen=True)
class PhysicalMemProp:
    """aclrtPhysicalMemProp: what kind of memory, and where."""

    handleType: int = c.ACL_MEM_HANDLE_TYPE_NONE
    allocationType: int = c.ACL_MEM_ALLOCATION_TYPE_PINNED
    memAttr: int = c.ACL_HBM_MEM_HUGE
    id: int = 0
    type: int = c.ACL_MEM_LOCATION_TYPE_DEVICE
    reserve: int = 0


def _check_properties(prop: PhysicalMemProp | None) -> PhysicalMemProp:
    if prop is None:
        raise NullParam("prop must not be a null pointer")
    if prop.handleType not in (c.ACL_MEM_HANDLE_TYPE_NONE, c.ACL_MEM_HANDLE_TYPE_POSIX):
        raise InvalidParam(f"prop->handleType is {prop.handleType}, expected ACL_MEM_HANDLE_TYPE_NONE (0) or POSIX (2)")
    if prop.allocationType != c.ACL_MEM_ALLOCATION_TYPE_PINNED:
        raise InvalidParam(f"prop->allocationType is {prop.allocationType}, expected ACL_MEM_ALLOCATION_TYPE_PINNED (0)")
    if prop.memAttr not in _DEVICE_ATTRIBUTES:
        raise InvalidParam(f"prop->memAttr is {prop.memAttr}, expected a value of aclrtMemAttr")
    if prop.type != c.ACL_MEM_LOCATION_TYPE_DEVICE:
        raise FeatureNotSupport(f"prop->location.type is {prop.type}: only physical memory of a device (1) is emulated")
    context.device(prop.id)
    return prop


@acl(
    HEADER,
    "aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option, size_t* granularity)",
)
def aclrtMemGetAllocationGranularity(prop: PhysicalMemProp | None, option: int) -> int:
    """Physical memory comes in multiples of this."""
    _check_properties(prop)
    if option not in _GRANULARITIES:
        raise InvalidParam(f"option is {option}, expected one of {list(_GRANULARITIES)}")
    return HUGE_PAGE


@acl(HEADER, "aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags)")
def aclrtReserveMemAddress(size: int, alignment: int, expectPtr: HostPointer, flags: int) -> DevicePointer:
    """Addresses without memory. ``expectPtr`` is a wish, which is not fulfilled here."""
    if not 0 < size < 1 << 47:
        raise InvalidParam(f"size is {size}, expected a positive number of bytes below 2 to the 47th")
    if alignment != 0:
        raise InvalidParam(f"alignment is {alignment}, expected 0: addresses are multiples of {HUGE_PAGE}")
    if flags not in _RESERVE_FLAGS:
        raise InvalidParam(f"flags is {flags}, expected 0 or 1 (huge pages)")
    return VirtualRange(context.current().device.index, size).start


def _range(virPtr: DevicePointer) -> VirtualRange:
    if not virPtr:
        raise NullParam("virPtr must not be a null pointer")
    found = virtual.range_at(virPtr)
    if found is None:
        raise InvalidParam(f"virPtr is {virPtr:#x}, which aclrtReserveMemAddress has not reserved")
    return found


@acl(HEADER, "aclError aclrtReleaseMemAddress(void* virPtr)")
def aclrtReleaseMemAddress(virPtr: DevicePointer) -> None:
    """Give addresses back, where nothing is mapped any more."""
    found = _range(virPtr)
    if virPtr != found.start:
        raise InvalidParam(f"virPtr is {virPtr:#x}, expected the start of the reserved range: {found.start:#x}")
    if found.mappings:
        raise InvalidParam(f"{len(found.mappings)} parts of the range at {virPtr:#x} are mapped still; call aclrtUnmapMem first")
    found.close()


@acl(HEADER, "aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags)")
def aclrtMallocPhysical(size: int, prop: PhysicalMemProp | None, flags: int) -> Handle:
    """Memory without an address."""
    if not 0 < size < 1 << 47:
        raise InvalidParam(f"size is {size}, expected a positive number of bytes below 2 to the 47th")
    properties = _check_properties(prop)
    if flags != 0:
        raise InvalidParam(f"flags is {flags}, expected 0")
    return Physical(context.device(properties.id).memory, size).handle


def _physical(handle: Handle) -> Physical:
    if not handle:
        raise NullParam("handle must not be a null pointer")
    found = handles.find(handle, Physical)
    if found is None:
        raise InvalidParam(f"handle is {handles.describe(handle)}, expected a living aclrtDrvMemHandle")
    return found


@acl(HEADER, "aclError aclrtFreePhysical(aclrtDrvMemHandle handle)")
def aclrtFreePhysical(handle: Handle) -> None:
    """Give physical memory back; where it is mapped it stays until it is unmapped."""
    _physical(handle).free()


@acl(HEADER, "aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)")
def aclrtMapMem(virPtr: DevicePointer, size: int, offset: int, handle: Handle, flags: int) -> None:
    """Give reserved addresses physical memory, all that a handle has."""
    found = _range(virPtr)
    assert virPtr is not None
    physical = _physical(handle)
    if size != physical.size:
        raise InvalidParam(f"size is {size}, expected that of the physical memory: {physical.size}")
    if offset != 0:
        raise InvalidParam(f"offset is {offset}, expected 0")
    if flags != 0:
        raise InvalidParam(f"flags is {flags}, expected 0")
    if (virPtr - found.start) % HUGE_PAGE or virPtr + virtual.rounded(size) > found.end:
        raise InvalidParam(
            f"virPtr is {virPtr:#x}, expected a multiple of {HUGE_PAGE} from {found.start:#x} on, with {size} bytes up to {found.end:#x}"
        )
    found.map(virPtr, size, physical)


@acl(HEADER, "aclError aclrtUnmapMem(void* virPtr)")
def aclrtUnmapMem(virPtr: DevicePointer) -> None:
    """Undo a mapping."""
    found = _range(virPtr)
    assert virPtr is not None
    if not found.unmap(virPtr):
        raise InvalidParam(f"virPtr is {virPtr:#x}, where no mapping begins; {found.describe(virPtr)}")


@acl(
    HEADER,
    "aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags, "
    "uint64_t* shareableHandle)",
)
def aclrtMemExportToShareableHandle(handle: Handle, handleType: int, flags: int) -> int:
    """A number by which another process can import physical memory."""
    physical = _physical(handle)
    if handleType != c.ACL_MEM_HANDLE_TYPE_NONE:
        raise InvalidParam(f"handleType is {handleType}, expected ACL_MEM_HANDLE_TYPE_NONE (0)")
    if flags not in (c.ACL_RT_VMM_EXPORT_FLAG_DEFAULT, c.ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION):
        raise InvalidParam(f"flags is {flags}, expected 0, or 1 (any process may import)")
    return virtual.export(physical, for_anyone=flags == c.ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)


@acl(HEADER, "aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum)")
def aclrtMemSetPidToShareableHandle(shareableHandle: int, pid: Sequence[int] | None) -> None:
    """Name processes that may import."""
    pids = values_of(pid)
    if not pids:
        raise InvalidParam("pid names no process, expected at least one")
    virtual.allow(shareableHandle, pids)


@acl(HEADER, "aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle)")
def aclrtMemImportFromShareableHandle(shareableHandle: int, deviceId: int) -> Handle:
    """Physical memory that was exported, to be mapped and freed here as one's own."""
    return virtual.load(shareableHandle, context.device(deviceId).index).handle
