"""The system around the devices: versions, time limits, identities, dump switches."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import acl, structure
from acl_emu.core import constants as c
from acl_emu.core import soc
from acl_emu.core.errors import AclError, FeatureUnsupported, InvalidFile, InvalidParam, NullParam
from acl_emu.runtime import context

_VERSION, _PART = c.ACL_PKG_VERSION_MAX_SIZE, c.ACL_PKG_VERSION_PARTS_MAX_SIZE


@structure("aclCANNPackageVersion", f"={_VERSION}s{_PART}s{_PART}s{_PART}s{_PART}s{_VERSION}x")
@dataclass(frozen=True)
class CANNPackageVersion:
    """aclCANNPackageVersion: a version, and its parts."""

    version: str
    majorVersion: str
    minorVersion: str
    releaseVersion: str
    patchVersion: str


@acl(HEADER, "aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version)")
def aclsysGetCANNVersion(name: int) -> CANNPackageVersion:
    """The version of a package; all are of the same. ``ACL_EMU_CANN`` chooses it."""
    packages = range(c.ACL_PKG_NAME_CANN, c.ACL_PKG_NAME_DRIVER + 1)
    if name not in packages:
        raise InvalidParam(f"name is {name}, expected a value in [{packages.start}, {packages.stop - 1}]")
    version = soc.cann_version()
    major, minor, release, *patch = [*version.split("."), ""]
    return CANNPackageVersion(version, major, minor, release, ".".join(part for part in patch if part))


@acl(HEADER, "aclError aclsysGetVersionStr(char* pkgName, char* versionStr)")
def aclsysGetVersionStr(pkgName: str | None) -> str:
    """The version of a package that is named by a text."""
    if pkgName is None:
        raise NullParam("pkgName must not be a null pointer")
    if not pkgName:
        raise InvalidParam("pkgName is empty, expected the name of a package such as runtime")
    return soc.cann_version()


# Time limits

_LONGEST = 0xFFFFFFFF
"""Seconds."""


@acl(HEADER, "aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)")
def aclrtSetOpExecuteTimeOut(timeout: int) -> None:
    """How long an operator may run, in seconds. Those that are emulated end, so that none is ever stopped for it."""


@acl(HEADER, "aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout)")
def aclrtSetOpExecuteTimeOutV2(timeout: int) -> int:
    """The same in microseconds, and the limit that is kept then."""
    return min(timeout, _LONGEST * 1_000_000)


@acl(HEADER, "aclError aclrtSetOpWaitTimeout(uint32_t timeout)")
def aclrtSetOpWaitTimeout(timeout: int) -> None:
    """How long a stream may wait for an event, in seconds; 0 is for ever, which is what streams do here."""


# Identities


@acl(HEADER, "aclError aclrtDeviceGetBareTgid(int32_t* pid)")
def aclrtDeviceGetBareTgid() -> int:
    """The number of the process, as devices know it."""
    context.current()
    return os.getpid()


@structure("aclrtUuid", "=16s")
@dataclass(frozen=True)
class Uuid:
    """aclrtUuid: what tells devices of a machine apart."""

    bytes: bytes


@acl(HEADER, "aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid)")
def aclrtDeviceGetUuid(deviceId: int) -> Uuid:
    """The same for the same device, whichever program asks."""
    device = context.device(deviceId)
    return Uuid(hashlib.blake2b(f"{soc.current().name} {device.physical}".encode(), digest_size=16).digest())


@structure("aclrtUtilizationInfo", "=iiiiQ")
@dataclass(frozen=True)
class UtilizationInfo:
    """aclrtUtilizationInfo: percentages."""

    cubeUtilization: int
    vectorUtilization: int
    aicpuUtilization: int
    memoryUtilization: int
    utilizationExtend: int = 0


@acl(HEADER, "aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo)")
def aclrtGetDeviceUtilizationRate(deviceId: int) -> UtilizationInfo:
    """How busy a device is: its cores while a stream has work, its memory by what is allocated."""
    device = context.device(deviceId)
    busy = any(not stream.idle for one in list(device.contexts) for stream in list(one.streams))
    memory = device.memory
    return UtilizationInfo(100 * busy, 100 * busy, 0, 100 * memory.used // memory.capacity)


# Dump switches


class _Dump:
    on = False


_dump = _Dump()


@acl(HEADER, "aclError aclmdlInitDump()")
def aclmdlInitDump() -> None:
    """Make aclmdlSetDump possible."""
    if _dump.on:
        raise AclError("aclmdlInitDump was called before without aclmdlFinalizeDump", c.ACL_ERROR_DUMP_ALREADY_RUN)
    _dump.on = True


@acl(HEADER, "aclError aclmdlSetDump(const char* dumpCfgPath)")
def aclmdlSetDump(dumpCfgPath: str | None) -> None:
    """Dumping what operators compute is not emulated, whatever the configuration asks for."""
    if dumpCfgPath is None:
        raise NullParam("dumpCfgPath must not be a null pointer")
    if not _dump.on:
        raise AclError("aclmdlInitDump was not called before aclmdlSetDump", c.ACL_ERROR_DUMP_NOT_RUN)
    if not os.path.isfile(dumpCfgPath):
        raise InvalidFile(f"dumpCfgPath is {dumpCfgPath!r}, which is no file")
    raise FeatureUnsupported("dumping the tensors of operators is not emulated")


@acl(HEADER, "aclError aclmdlFinalizeDump()")
def aclmdlFinalizeDump() -> None:
    """Undo aclmdlInitDump."""
    if not _dump.on:
        raise AclError("aclmdlInitDump was not called before aclmdlFinalizeDump", c.ACL_ERROR_DUMP_NOT_RUN)
    _dump.on = False
