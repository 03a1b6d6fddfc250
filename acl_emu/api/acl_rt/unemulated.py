"""Declared so that programs compile and link, but not emulated yet: each returns 207000 and says so in aclGetRecentErrMsg."""

from __future__ import annotations

from acl_emu.api import acl_meta
from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import not_emulated

aclDumpOpTensors = not_emulated(
    acl_meta.HEADER,
    "aclnnStatus aclDumpOpTensors(const char* opType, const char* opName, aclTensor** tensors, "
    "size_t inputTensorNum, size_t outputTensorNum, aclrtStream stream)",
)
aclrtBinaryLoadFromData = not_emulated(
    HEADER,
    "aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle)",
)
aclrtBinaryGetFunction = not_emulated(
    HEADER, "aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle)"
)
aclrtGetFunctionAddr = not_emulated(HEADER, "aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr)")
aclrtMemExportToShareableHandle = not_emulated(
    HEADER,
    "aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags, uint64_t* shareableHandle)",
)
aclrtMemImportFromShareableHandle = not_emulated(
    HEADER, "aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle)"
)
aclrtMemSetPidToShareableHandle = not_emulated(
    HEADER, "aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum)"
)
aclmdlRICaptureBegin = not_emulated(HEADER, "aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)")
aclmdlRICaptureEnd = not_emulated(HEADER, "aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI)")
aclmdlRIExecuteAsync = not_emulated(HEADER, "aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)")
aclmdlRIDestroy = not_emulated(HEADER, "aclError aclmdlRIDestroy(aclmdlRI modelRI)")
aclrtReserveMemAddress = not_emulated(
    HEADER, "aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags)"
)
aclrtReleaseMemAddress = not_emulated(HEADER, "aclError aclrtReleaseMemAddress(void* virPtr)")
aclrtMallocPhysical = not_emulated(
    HEADER, "aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags)"
)
aclrtFreePhysical = not_emulated(HEADER, "aclError aclrtFreePhysical(aclrtDrvMemHandle handle)")
aclrtMapMem = not_emulated(
    HEADER, "aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)"
)
aclrtUnmapMem = not_emulated(HEADER, "aclError aclrtUnmapMem(void* virPtr)")
aclrtMemGetAllocationGranularity = not_emulated(
    HEADER, "aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option, size_t* granularity)"
)
