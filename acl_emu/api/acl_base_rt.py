"""acl/acl_base_rt.h: data types, half-precision helpers, what the chip is."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from acl_emu.api.border import DevicePointer, Handle, acl, plain
from acl_emu.core import constants as c
from acl_emu.core import dtypes, handles, observe, soc
from acl_emu.core.errors import InvalidParam, NullParam
from acl_emu.runtime import context

HEADER = "acl/acl_base_rt.h"

_LARGEST_HALF = 0x7BFF


@plain(HEADER, "size_t aclDataTypeSize(aclDataType dataType)")
def aclDataTypeSize(dataType: int) -> int:
    """Bytes of one element: 1 for the packed INT4 and UINT1, 0 for STRING and UNDEFINED, 8 for anything unknown."""
    return dtypes.data_type_size(dataType)


@plain(HEADER, "aclFloat16 aclFloatToFloat16(float value)")
def aclFloatToFloat16(value: float) -> int:
    """The bits of the nearest half; what is too large, infinite or not a number becomes the largest one."""
    if value != value:
        return _LARGEST_HALF
    saturated = max(-65504.0, min(65504.0, value))
    return int(struct.unpack("<H", struct.pack("<e", saturated))[0])


@plain(HEADER, "float aclFloat16ToFloat(aclFloat16 value)")
def aclFloat16ToFloat(value: int) -> float:
    """The value of the bits of a half; the top exponent is one like any other, there is no infinity."""
    sign = -1.0 if value & 0x8000 else 1.0
    exponent, fraction = value >> 10 & 0x1F, value & 0x3FF
    return sign * (fraction * 2.0**-24 if exponent == 0 else (1024 + fraction) * 2.0 ** (exponent - 25))


@plain(HEADER, "const char* aclrtGetSocName()")
def aclrtGetSocName() -> str:
    """The name of the chip that is emulated."""
    return soc.current().name


@acl(HEADER, "aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value)")
def aclGetCannAttribute(cannAttr: int) -> int:
    """Whether the chip and the library offer something."""
    chip = soc.current()
    known = {c.ACL_CANN_ATTR_INF_NAN: not chip.saturates, c.ACL_CANN_ATTR_BF16: chip.bf16, c.ACL_CANN_ATTR_JIT_COMPILE: True}
    if cannAttr not in known:
        raise InvalidParam(f"cannAttr is {cannAttr}, expected one of {sorted(known)}")
    return int(known[cannAttr])


@acl(HEADER, "aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value)")
def aclGetDeviceCapability(deviceId: int, deviceInfo: int) -> int:
    """Cores and cache of a device."""
    context.device(deviceId)
    chip = soc.current()
    known = {
        c.ACL_DEVICE_INFO_AI_CORE_NUM: chip.cube_cores,
        c.ACL_DEVICE_INFO_VECTOR_CORE_NUM: chip.vector_cores,
        c.ACL_DEVICE_INFO_L2_SIZE: chip.l2,
    }
    if deviceInfo not in known:
        raise InvalidParam(f"deviceInfo is {deviceInfo}, expected one of {sorted(known)}")
    return known[deviceInfo]


# Memory, as operators of the older interface take it


@dataclass(eq=False)
class DataBuffer:
    """Where memory of the program is, and how much of it."""

    c_name = "aclDataBuffer"

    address: int
    size: int
    handle: int = 0


def find_buffer(handle: Handle, name: str = "dataBuffer") -> DataBuffer:
    """The living buffer behind a handle."""
    if not handle:
        raise NullParam(f"{name} must not be a null pointer")
    found = handles.find(handle, DataBuffer)
    if found is None:
        raise InvalidParam(f"{name} is {handles.describe(handle)}, expected a living aclDataBuffer")
    return found


@plain(HEADER, "aclDataBuffer* aclCreateDataBuffer(void* data, size_t size)")
def aclCreateDataBuffer(data: DevicePointer, size: int) -> Handle:
    """A buffer over memory that the program owns; nothing is checked."""
    made = DataBuffer(data or 0, size)
    made.handle = handles.issue(made)
    return made.handle


@acl(HEADER, "aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer)")
def aclDestroyDataBuffer(dataBuffer: Handle) -> None:
    """Forget a buffer, not its memory."""
    handles.retire(find_buffer(dataBuffer).handle)


@acl(HEADER, "aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size)")
def aclUpdateDataBuffer(dataBuffer: Handle, data: DevicePointer, size: int) -> None:
    """Let it be over other memory."""
    found = find_buffer(dataBuffer)
    found.address, found.size = data or 0, size


@plain(HEADER, "void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer)")
def aclGetDataBufferAddr(dataBuffer: Handle) -> DevicePointer:
    """Where its memory is; null of none."""
    return find_buffer(dataBuffer).address or None


@plain(HEADER, "size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer)")
def aclGetDataBufferSizeV2(dataBuffer: Handle) -> int:
    """How much memory it has; 0 of none."""
    return find_buffer(dataBuffer).size


@plain(HEADER, "void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...)")
def aclAppLog(logLevel: int, func: str | None, file: str | None, line: int, fmt: str | None) -> None:
    """A line of the program in the log. In Python ``fmt`` is the text itself."""
    if observe.watching is not None:
        observe.watching.tell("logged", logLevel, f"[{file or ''}:{line}] {func or ''}: {fmt or ''}")
