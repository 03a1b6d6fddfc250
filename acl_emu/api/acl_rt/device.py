"""Devices: which there are, which one this thread uses, what they can do."""

from __future__ import annotations

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.acl_rt.streams import check_timeout
from acl_emu.api.border import acl
from acl_emu.core import constants as c
from acl_emu.core import soc
from acl_emu.core.errors import FeatureNotSupport, FeatureUnsupported, InvalidParam
from acl_emu.core.soc import Product
from acl_emu.runtime import capture, context
from acl_emu.runtime.callbacks import refuse_in_callback


@acl(HEADER, "aclError aclrtSetDevice(int32_t deviceId)")
def aclrtSetDevice(deviceId: int) -> None:
    """Use a device on the calling thread; every call counts."""
    context.set_device(deviceId)


@acl(HEADER, "aclError aclrtResetDevice(int32_t deviceId)")
def aclrtResetDevice(deviceId: int) -> None:
    """Undo one aclrtSetDevice; the last one waits for the work and releases the device."""
    refuse_in_callback("aclrtResetDevice")
    context.device(deviceId).release(force=False)


@acl(HEADER, "aclError aclrtResetDeviceForce(int32_t deviceId)")
def aclrtResetDeviceForce(deviceId: int) -> None:
    """Release a device at once, however often it was set."""
    refuse_in_callback("aclrtResetDeviceForce")
    context.device(deviceId).release(force=True)


@acl(HEADER, "aclError aclrtGetDevice(int32_t* deviceId)")
def aclrtGetDevice() -> int:
    """The device of the calling thread."""
    return context.current().device.index


@acl(HEADER, "aclError aclrtGetDeviceCount(uint32_t* count)")
def aclrtGetDeviceCount() -> int:
    """How many devices are visible."""
    return len(context.devices())


@acl(HEADER, "aclError aclrtSynchronizeDevice(void)")
def aclrtSynchronizeDevice() -> None:
    """Wait for all work on the current device."""
    refuse_in_callback("aclrtSynchronizeDevice")
    capture.refuse("aclrtSynchronizeDevice", c.ACL_ERROR_RT_STREAM_CAPTURED)
    _wait(None)


@acl(HEADER, "aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)")
def aclrtSynchronizeDeviceWithTimeout(timeout: int) -> None:
    """Wait for all work on the current device, but not longer than ``timeout`` milliseconds; -1 waits for ever."""
    check_timeout(timeout)
    refuse_in_callback("aclrtSynchronizeDeviceWithTimeout")
    capture.refuse("aclrtSynchronizeDeviceWithTimeout", c.ACL_ERROR_RT_STREAM_CAPTURED)
    _wait(None if timeout == -1 else timeout)


def _wait(milliseconds: int | None) -> None:
    error = context.current().device.synchronize(milliseconds)
    if error is not None:
        raise error


@acl(HEADER, "aclError aclrtGetRunMode(aclrtRunMode* runMode)")
def aclrtGetRunMode() -> int:
    """Where the program runs: always on the host."""
    return c.ACL_HOST


@acl(HEADER, "aclError aclrtSetTsDevice(aclrtTsId tsId)")
def aclrtSetTsDevice(tsId: int) -> None:
    """Choose the task scheduler; there is one."""
    if tsId not in (c.ACL_TS_ID_AICORE, c.ACL_TS_ID_AIVECTOR):
        raise InvalidParam(f"tsId is {tsId}, expected ACL_TS_ID_AICORE (0) or ACL_TS_ID_AIVECTOR (1)")


@acl(HEADER, "aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus)")
def aclrtQueryDeviceStatus(deviceId: int) -> int:
    """Whether a device is in order."""
    context.device(deviceId)
    return c.ACL_RT_DEVICE_STATUS_NORMAL


def _attributes() -> dict[int, int]:
    chip = soc.current()
    return {
        c.ACL_DEV_ATTR_AICPU_CORE_NUM: 6,
        c.ACL_DEV_ATTR_AICORE_CORE_NUM: chip.cube_cores,
        c.ACL_DEV_ATTR_CUBE_CORE_NUM: chip.cube_cores,
        c.ACL_DEV_ATTR_VECTOR_CORE_NUM: chip.vector_cores,
        c.ACL_DEV_ATTR_L2_CACHE_SIZE: chip.l2,
        c.ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: chip.memory,
    }


@acl(HEADER, "aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value)")
def aclrtGetDeviceInfo(deviceId: int, attr: int) -> int:
    """One attribute of a device."""
    context.device(deviceId)
    known = _attributes()
    if attr not in known:
        raise InvalidParam(f"attr is {attr}, expected one of {sorted(known)}")
    return known[attr]


@acl(HEADER, "aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority)")
def aclrtDeviceGetStreamPriorityRange() -> tuple[int, int]:
    """The least and the greatest stream priority."""
    context.current()
    return 7, 0


@acl(HEADER, "aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId)")
def aclrtDeviceCanAccessPeer(deviceId: int, peerDeviceId: int) -> int:
    """Whether one device can reach the memory of another."""
    if deviceId == peerDeviceId:
        raise InvalidParam(f"deviceId and peerDeviceId are both {deviceId}, expected two devices")
    context.device(deviceId)
    context.device(peerDeviceId)
    return 1


@acl(HEADER, "aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)")
def aclrtDeviceEnablePeerAccess(peerDeviceId: int, flags: int) -> None:
    """Let the current device reach the memory of another."""
    if flags != 0:
        raise FeatureUnsupported(f"flags is {flags}, expected 0")
    here = context.current().device
    context.device(peerDeviceId)
    if peerDeviceId == here.index:
        raise InvalidParam(f"peerDeviceId is {peerDeviceId}, the current device itself")
    here.peers.add(peerDeviceId)


@acl(HEADER, "aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)")
def aclrtDeviceDisablePeerAccess(peerDeviceId: int) -> None:
    """Undo aclrtDeviceEnablePeerAccess."""
    here = context.current().device
    context.device(peerDeviceId)
    if peerDeviceId == here.index:
        raise InvalidParam(f"peerDeviceId is {peerDeviceId}, the current device itself")
    here.peers.discard(peerDeviceId)


@acl(HEADER, "aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status)")
def aclrtDevicePeerAccessStatus(deviceId: int, peerDeviceId: int) -> int:
    """Whether access from one device to another was enabled."""
    context.device(peerDeviceId)
    return int(peerDeviceId in context.device(deviceId).peers)


@acl(HEADER, "aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)")
def aclrtSetDeviceSatMode(mode: int) -> None:
    """Overflow gives infinities (1) or saturates (0); a chip that cannot do it says so."""
    if mode not in (c.ACL_RT_OVERFLOW_MODE_SATURATION, c.ACL_RT_OVERFLOW_MODE_INFNAN):
        raise InvalidParam(f"mode is {mode}, expected 0 (saturation) or 1 (infinity and NaN)")
    device = context.current().device
    chip = soc.current()
    natural = c.ACL_RT_OVERFLOW_MODE_SATURATION if chip.saturates else c.ACL_RT_OVERFLOW_MODE_INFNAN
    if mode != natural:
        raise FeatureNotSupport(
            f"mode is {mode}, this emulation of {chip.name} ({Product(chip.product).value}) computes in mode {natural} only"
        )
    device.overflow_mode = mode


@acl(HEADER, "aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode)")
def aclrtGetDeviceSatMode() -> int:
    """What overflow does on the current device."""
    mode = context.current().device.overflow_mode
    if mode is not None:
        return mode
    return c.ACL_RT_OVERFLOW_MODE_SATURATION if soc.current().saturates else c.ACL_RT_OVERFLOW_MODE_INFNAN
