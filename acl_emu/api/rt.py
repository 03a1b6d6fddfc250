"""runtime/rt.h: loading and launching kernels that were compiled for a device. They cannot run here: each returns 207000 and says so."""

from __future__ import annotations

from acl_emu.api.border import not_emulated

HEADER = "runtime/rt.h"

rtDevBinaryRegister = not_emulated(HEADER, "rtError_t rtDevBinaryRegister(const rtDevBinary_t* bin, void** hdl)")
rtFunctionRegister = not_emulated(
    HEADER,
    "rtError_t rtFunctionRegister(void* binHandle, const void* stubFunc, const char* stubName, const void* kernelInfoExt, "
    "uint32_t funcMode)",
)
rtKernelLaunch = not_emulated(
    HEADER,
    "rtError_t rtKernelLaunch(const void* stubFunc, uint32_t numBlocks, void* args, uint32_t argsSize, rtSmDesc_t* smDesc, rtStream_t stm)",
)
rtGetC2cCtrlAddr = not_emulated(HEADER, "rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len)")
