"""aclnnNLLLoss2dBackward: gradient of the negative log likelihood loss of images.

The steps and the data are those of the program on the operator's page, so that the two can be read side by side.
"""

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import acl_emu as acl
from aclnnop import aclnnNLLLoss2dBackward, aclnnNLLLoss2dBackwardGetWorkspaceSize


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


def main() -> None:
    # 1. Device and stream
    deviceId = 0
    stream = init(deviceId)

    # 2. Inputs and outputs
    gradShape = (3, 1, 1)
    selfShape = (3, 5, 1, 1)
    targetShape = (3, 1, 1)
    weightShape = (5,)
    totalWeightShape = (1,)
    outShape = (3, 5, 1, 1)
    gradHostData = np.array([2.7, 2.6, 2.5], np.float32)
    selfHostData = np.array([4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 4.8, 4.9, 5.0, 5.1, 5.2, 5.3, 5.4, 5.5], np.float32)
    targetHostData = np.array([2, 3, 1], np.int64)
    weightHostData = np.array([1.0, 1.0, 1.0, 1.0, 1.0], np.float32)
    totalWeightHostData = np.array([1.0], np.float32)
    outHostData = np.zeros(15, np.float32)
    reduction = 0
    ignoreIndex = -100
    gradDeviceAddr, grad = create_acl_tensor(gradHostData, gradShape, acl.ACL_FLOAT)
    selfDeviceAddr, self = create_acl_tensor(selfHostData, selfShape, acl.ACL_FLOAT)
    targetDeviceAddr, target = create_acl_tensor(targetHostData, targetShape, acl.ACL_INT64)
    weightDeviceAddr, weight = create_acl_tensor(weightHostData, weightShape, acl.ACL_FLOAT)
    totalWeightDeviceAddr, totalWeight = create_acl_tensor(totalWeightHostData, totalWeightShape, acl.ACL_FLOAT)
    outDeviceAddr, out = create_acl_tensor(outHostData, outShape, acl.ACL_FLOAT)

    # 3. Phase one checks and plans, phase two queues the work
    workspaceSize, executor, ret = aclnnNLLLoss2dBackwardGetWorkspaceSize(
        grad, self, target, weight, reduction, ignoreIndex, totalWeight, out
    )
    check(ret, "aclnnNLLLoss2dBackwardGetWorkspaceSize")
    workspaceAddr = None
    if workspaceSize > 0:
        workspaceAddr, ret = acl.aclrtMalloc(workspaceSize, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        check(ret, "allocate workspace")
    check(aclnnNLLLoss2dBackward(workspaceAddr, workspaceSize, executor, stream), "aclnnNLLLoss2dBackward")

    # 4. Wait for it
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result to the host
    resultData = np.zeros(math.prod(outShape), np.float32)
    size = resultData.nbytes
    check(acl.aclrtMemcpy(resultData, size, outDeviceAddr, size, acl.ACL_MEMCPY_DEVICE_TO_HOST), "copy result from device to host")
    for i, value in enumerate(resultData):
        print(f"result[{i}] is: {value:f}")

    # 6. Destroy the tensors
    for tensor in (grad, self, target, weight, totalWeight, out):
        check(acl.aclDestroyTensor(tensor), "aclDestroyTensor")

    # 7. Free the memory, leave the device
    for deviceAddr in (gradDeviceAddr, selfDeviceAddr, targetDeviceAddr, weightDeviceAddr, totalWeightDeviceAddr, outDeviceAddr):
        check(acl.aclrtFree(deviceAddr), "aclrtFree")
    if workspaceSize > 0:
        check(acl.aclrtFree(workspaceAddr), "aclrtFree")
    check(acl.aclrtDestroyStream(stream), "aclrtDestroyStream")
    check(acl.aclrtResetDevice(deviceId), "aclrtResetDevice")
    check(acl.aclFinalize(), "aclFinalize")


if __name__ == "__main__":
    main()
