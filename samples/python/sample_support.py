"""What every sample needs, as the helper functions of the documents' programs: nothing here is specific to an operator."""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import acl_emu as acl


def check(ret: int, what: str) -> None:
    """End the program where a call failed, and say why."""
    if ret != acl.ACL_SUCCESS:
        sys.exit(f"{what} failed. ERROR: {ret}\n{acl.aclGetRecentErrMsg()}")


def init(deviceId: int) -> int | None:
    """Start the library, choose a device, make a stream."""
    check(acl.aclInit(None), "aclInit")
    check(acl.aclrtSetDevice(deviceId), "aclrtSetDevice")
    stream, ret = acl.aclrtCreateStream()
    check(ret, "aclrtCreateStream")
    return stream


def create_acl_tensor(hostData: npt.NDArray[Any], shape: Sequence[int], dataType: int) -> tuple[int | None, int | None]:
    """Copy host data to new device memory and describe it as a tensor: (device address, tensor)."""
    size = hostData.nbytes
    deviceAddr, ret = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "aclrtMalloc")
    check(acl.aclrtMemcpy(deviceAddr, size, hostData, size, acl.ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy")
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = shape[i + 1] * strides[i + 1]
    return deviceAddr, acl.aclCreateTensor(shape, dataType, strides, 0, acl.ACL_FORMAT_ND, shape, deviceAddr)


def allocate_workspace(workspaceSize: int) -> int | None:
    """Device memory for phase two, where phase one asked for some."""
    if workspaceSize == 0:
        return None
    workspaceAddr, ret = acl.aclrtMalloc(workspaceSize, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "allocate workspace")
    return workspaceAddr


def print_result(deviceAddr: int | None, shape: Sequence[int], most: int | None = None, dtype: npt.DTypeLike = np.float32) -> None:
    """Copy floating-point numbers to the host and print them, or only the first ones."""
    resultData = np.zeros(math.prod(shape), dtype)
    size = resultData.nbytes
    check(acl.aclrtMemcpy(resultData, size, deviceAddr, size, acl.ACL_MEMCPY_DEVICE_TO_HOST), "copy result from device to host")
    for i, value in enumerate(resultData[:most]):
        print(f"result[{i}] is: {value:f}")


def destroy_tensors(tensors: Iterable[int | None]) -> None:
    """Destroy tensor objects; their memory stays."""
    for tensor in tensors:
        check(acl.aclDestroyTensor(tensor), "aclDestroyTensor")


def leave(deviceId: int, stream: int | None, deviceAddrs: Iterable[int | None]) -> None:
    """Free the memory, destroy the stream, leave the device."""
    for deviceAddr in deviceAddrs:
        if deviceAddr is not None:
            check(acl.aclrtFree(deviceAddr), "aclrtFree")
    check(acl.aclrtDestroyStream(stream), "aclrtDestroyStream")
    check(acl.aclrtResetDevice(deviceId), "aclrtResetDevice")
    check(acl.aclFinalize(), "aclFinalize")
