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
