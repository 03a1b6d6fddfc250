"""aclnnLogSoftmaxBackward: gradient of log softmax.

The steps and the data are those of the program on the operator's page, so that the two can be read side by side.
"""

import numpy as np
from sample_support import allocate_workspace, check, create_acl_tensor, destroy_tensors, init, leave, print_result

import acl_emu as acl
from aclnnop import aclnnLogSoftmaxBackward, aclnnLogSoftmaxBackwardGetWorkspaceSize


def main() -> None:
    # 1. Device and stream
    deviceId = 0
    stream = init(deviceId)

    # 2. Inputs and outputs
    gradOutputShape = (4, 2)
    outputShape = (4, 2)
    outShape = (4, 2)
    gradOutputHostData = np.array([0, 1, 2, 3, 4, 5, 6, 7], np.float32)
    outputHostData = np.array([1, 1, 1, 2, 2, 2, 3, 3], np.float32)
    outHostData = np.zeros(8, np.float32)
    gradOutputDeviceAddr, gradOutput = create_acl_tensor(gradOutputHostData, gradOutputShape, acl.ACL_FLOAT)
    outputDeviceAddr, output = create_acl_tensor(outputHostData, outputShape, acl.ACL_FLOAT)
    outDeviceAddr, out = create_acl_tensor(outHostData, outShape, acl.ACL_FLOAT)
    dim = 0

    # 3. Phase one checks and plans, phase two queues the work
    workspaceSize, executor, ret = aclnnLogSoftmaxBackwardGetWorkspaceSize(gradOutput, output, dim, out)
    check(ret, "aclnnLogSoftmaxBackwardGetWorkspaceSize")
    workspaceAddr = allocate_workspace(workspaceSize)
    check(aclnnLogSoftmaxBackward(workspaceAddr, workspaceSize, executor, stream), "aclnnLogSoftmaxBackward")

    # 4. Wait for it
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result to the host
    print_result(outDeviceAddr, outShape)

    # 6. Destroy the tensors
    destroy_tensors((gradOutput, output, out))

    # 7. Free the memory, leave the device
    leave(deviceId, stream, (gradOutputDeviceAddr, outputDeviceAddr, outDeviceAddr, workspaceAddr))


if __name__ == "__main__":
    main()
