"""aclnnFusedLinearCrossEntropyLossGrad in its fast mode, where the softmax is given.

The steps and the data are those of the program on the operator's page, so that the two can be read side by side.
"""

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import acl_emu as acl
from aclnnop import aclnnFusedLinearCrossEntropyLossGrad, aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize


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

    # 2. Inputs and outputs, all zero; whole numbers of the same width stand for the bits of FLOAT and BF16
    BT, V, H = 1024, 1024, 1024
    gradShape = (BT,)
    inputShape = (BT, H)
    weightShape = (V, H)
    targetMaskShape = (BT,)
    maskedTargetShape = (BT,)
    softmaxOptionalShape = (BT, V)
    inputGradOutShape = (BT, H)
    weightGradOutShape = (V, H)
    labelSmoothing = 0.0
    logitsMaxOptional = None
    sumExpLogitsOptional = None
    gradData = np.zeros(gradShape, np.int32)
    gradDeviceAddr, grad = create_acl_tensor(gradData, gradShape, acl.ACL_FLOAT)
    inputData = np.zeros(inputShape, np.int16)
    inputDeviceAddr, input = create_acl_tensor(inputData, inputShape, acl.ACL_BF16)
    weightData = np.zeros(weightShape, np.int16)
    weightDeviceAddr, weight = create_acl_tensor(weightData, weightShape, acl.ACL_BF16)
    targetMaskData = np.zeros(targetMaskShape, np.int8)
    targetMaskDeviceAddr, targetMask = create_acl_tensor(targetMaskData, targetMaskShape, acl.ACL_UINT8)
    maskedTargetData = np.zeros(maskedTargetShape, np.int32)
    maskedTargetDeviceAddr, maskedTarget = create_acl_tensor(maskedTargetData, maskedTargetShape, acl.ACL_INT32)
    softmaxOptionalData = np.zeros(softmaxOptionalShape, np.int32)
    softmaxOptionalDeviceAddr, softmaxOptional = create_acl_tensor(softmaxOptionalData, softmaxOptionalShape, acl.ACL_FLOAT)
    inputGradOutData = np.zeros(inputGradOutShape, np.int16)
    inputGradOutDeviceAddr, inputGradOut = create_acl_tensor(inputGradOutData, inputGradOutShape, acl.ACL_BF16)
    weightGradOutData = np.zeros(weightGradOutShape, np.int16)
    weightGradOutDeviceAddr, weightGradOut = create_acl_tensor(weightGradOutData, weightGradOutShape, acl.ACL_BF16)

    # 3. Phase one checks and plans, phase two queues the work
    workspaceSize, executor, ret = aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(
        grad,
        input,
        weight,
        targetMask,
        maskedTarget,
        labelSmoothing,
        logitsMaxOptional,
        sumExpLogitsOptional,
        softmaxOptional,
        inputGradOut,
        weightGradOut,
    )
    check(ret, "aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize")
    workspaceAddr = None
    if workspaceSize > 0:
        workspaceAddr, ret = acl.aclrtMalloc(workspaceSize, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        check(ret, "allocate workspace")
    check(aclnnFusedLinearCrossEntropyLossGrad(workspaceAddr, workspaceSize, executor, stream), "aclnnFusedLinearCrossEntropyLossGrad")

    # 4. Wait for it
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result to the host
    # The page reads BF16 elements as floats, so twice the bytes of the tensor; they lie in mapped memory, and the copy succeeds
    resultData = np.zeros(math.prod(inputGradOutShape), np.float32)
    size = resultData.nbytes
    check(acl.aclrtMemcpy(resultData, size, inputGradOutDeviceAddr, size, acl.ACL_MEMCPY_DEVICE_TO_HOST), "copy result from device to host")
    for i, value in enumerate(resultData[:16]):
        print(f"result[{i}] is: {value:f}")

    # 6. Destroy the tensors
    for tensor in (grad, input, weight, targetMask, maskedTarget, softmaxOptional, inputGradOut, weightGradOut):
        check(acl.aclDestroyTensor(tensor), "aclDestroyTensor")

    # 7. Free the memory, leave the device
    for deviceAddr in (
        gradDeviceAddr,
        inputDeviceAddr,
        weightDeviceAddr,
        targetMaskDeviceAddr,
        maskedTargetDeviceAddr,
        softmaxOptionalDeviceAddr,
        inputGradOutDeviceAddr,
        weightGradOutDeviceAddr,
    ):
        check(acl.aclrtFree(deviceAddr), "aclrtFree")
    if workspaceSize > 0:
        check(acl.aclrtFree(workspaceAddr), "aclrtFree")
    check(acl.aclrtDestroyStream(stream), "aclrtDestroyStream")
    check(acl.aclrtResetDevice(deviceId), "aclrtResetDevice")
    check(acl.aclFinalize(), "aclFinalize")


if __name__ == "__main__":
    main()
