"""aclnnSmoothL1LossBackward: slope of the smooth L1 loss.

The steps and the data are those of the program on the operator's page, so that the two can be read side by side.
"""

import numpy as np
from sample_support import allocate_workspace, check, create_acl_tensor, destroy_tensors, init, leave, print_result

import acl_emu as acl
from aclnnop import aclnnSmoothL1LossBackward, aclnnSmoothL1LossBackwardGetWorkspaceSize


def main() -> None:
    # 1. Device and stream
    deviceId = 0
    stream = init(deviceId)

    # 2. Inputs and outputs
    gradOutShape = (4, 2)
    selfShape = (4, 2)
    targetShape = (4, 2)
    gradInputShape = (4, 2)
    reduction = 0
    beta = 1.0
    gradOutHostData = np.array([1, 1, 1, 1, 1, 1, 1, 1], np.float32)
    selfHostData = np.array([0, 1, 2, 3, 4, 5, 6, 7], np.float32)
    targetHostData = np.array([1, 1, 1, 1, 1, 1, 1, 1], np.float32)
    gradInputHostData = np.zeros(8, np.float32)
    gradOutDeviceAddr, gradOut = create_acl_tensor(gradOutHostData, gradOutShape, acl.ACL_FLOAT)
    selfDeviceAddr, self = create_acl_tensor(selfHostData, selfShape, acl.ACL_FLOAT)
    targetDeviceAddr, target = create_acl_tensor(targetHostData, targetShape, acl.ACL_FLOAT)
    gradInputDeviceAddr, gradInput = create_acl_tensor(gradInputHostData, gradInputShape, acl.ACL_FLOAT)

    # 3. Phase one checks and plans, phase two queues the work
    workspaceSize, executor, ret = aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut, self, target, reduction, beta, gradInput)
    check(ret, "aclnnSmoothL1LossBackwardGetWorkspaceSize")
    workspaceAddr = allocate_workspace(workspaceSize)
    check(aclnnSmoothL1LossBackward(workspaceAddr, workspaceSize, executor, stream), "aclnnSmoothL1LossBackward")

    # 4. Wait for it
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result to the host
    print_result(gradInputDeviceAddr, gradInputShape)

    # 6. Destroy the tensors
    destroy_tensors((gradOut, self, target, gradInput))

    # 7. Free the memory, leave the device
    leave(deviceId, stream, (gradOutDeviceAddr, selfDeviceAddr, targetDeviceAddr, gradInputDeviceAddr, workspaceAddr))


if __name__ == "__main__":
    main()
