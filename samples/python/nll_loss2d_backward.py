"""aclnnNLLLoss2dBackward: gradient of the negative log likelihood loss of images.

The steps and the data are those of the program on the operator's page, so that the two can be read side by side.
"""

import numpy as np
from sample_support import allocate_workspace, check, create_acl_tensor, destroy_tensors, init, leave, print_result

import acl_emu as acl
from aclnnop import aclnnNLLLoss2dBackward, aclnnNLLLoss2dBackwardGetWorkspaceSize


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
    workspaceAddr = allocate_workspace(workspaceSize)
    check(aclnnNLLLoss2dBackward(workspaceAddr, workspaceSize, executor, stream), "aclnnNLLLoss2dBackward")

    # 4. Wait for it
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result to the host
    print_result(outDeviceAddr, outShape)

    # 6. Destroy the tensors
    destroy_tensors((grad, self, target, weight, totalWeight, out))

    # 7. Free the memory, leave the device
    leave(
        deviceId,
        stream,
        (gradDeviceAddr, selfDeviceAddr, targetDeviceAddr, weightDeviceAddr, totalWeightDeviceAddr, outDeviceAddr, workspaceAddr),
    )


if __name__ == "__main__":
    main()
