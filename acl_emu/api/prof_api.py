"""profiling/prof_api.h: what libraries tell a profiler. There is none here, so that nobody ever asks them to."""

from __future__ import annotations

import hashlib
import time

from acl_emu.api.border import HostPointer, plain

HEADER = "profiling/prof_api.h"

_NOT_TAKEN = -1


@plain(HEADER, "int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle)")
def MsprofRegisterCallback(moduleId: int, handle: HostPointer) -> int:
    """Who wants to be called when profiling begins. It never does."""
    return 0


@plain(HEADER, "uint64_t MsprofGetHashId(const char* hashInfo, size_t length)")
def MsprofGetHashId(hashInfo: str | None, length: int) -> int:
    """A number for a text, the same for the same text; 0 for none."""
    text = (hashInfo or "").encode()[: max(0, length)]
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") if text else 0


@plain(HEADER, "uint64_t MsprofSysCycleTime()")
def MsprofSysCycleTime() -> int:
    """The counter that time stamps are taken from."""
    return time.perf_counter_ns()


@plain(HEADER, "int32_t MsprofReportApi(uint32_t agingFlag, const struct MsprofApi* api)")
def MsprofReportApi(agingFlag: int, api: HostPointer) -> int:
    """Nobody takes it: -1."""
    return _NOT_TAKEN


@plain(HEADER, "int32_t MsprofReportCompactInfo(uint32_t agingFlag, const void* data, uint32_t length)")
def MsprofReportCompactInfo(agingFlag: int, data: HostPointer, length: int) -> int:
    """Nobody takes it: -1."""
    return _NOT_TAKEN


@plain(HEADER, "int32_t MsprofReportAdditionalInfo(uint32_t agingFlag, const void* data, uint32_t length)")
def MsprofReportAdditionalInfo(agingFlag: int, data: HostPointer, length: int) -> int:
    """Nobody takes it: -1."""
    return _NOT_TAKEN
