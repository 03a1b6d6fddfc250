"""aclnnFusedLinearCrossEntropyLossGrad in its fast mode, where the softmax is given.

The steps and the data are those of the program on the operator's page, so that the two can be read side by side.
"""

import ml_dtypes
import numpy as np
from sample_support import allocate_workspace, check, create_acl_tensor, destroy_tensors, init, leave, print_result

import acl_emu as acl
from aclnnop import aclnnFusedLinearCrossEntropyLossGrad, aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize


def main() -> None:
    # 1. Device and stream
    deviceId = 0
    stream = init(deviceId)

    # 2. Inputs and outputs, all zero; integers of the same width stand for the bits of FLOAT and BF16
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
    workspaceAddr = allocate_workspace(workspaceSize)
    check(aclnnFusedLinearCrossEntropyLossGrad(workspaceAddr, workspaceSize, executor, stream), "aclnnFusedLinearCrossEntropyLossGrad")

    # 4. Wait for it
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result to the host, as what it is: the page reads BF16 as floats, and so twice as many bytes as there are
    print_result(inputGradOutDeviceAddr, inputGradOutShape, most=16, dtype=ml_dtypes.bfloat16)

    # 6. Destroy the tensors
    destroy_tensors((grad, input, weight, targetMask, maskedTarget, softmaxOptional, inputGradOut, weightGradOut))

    # 7. Free the memory, leave the device
    leave(
        deviceId,
        stream,
        (
            gradDeviceAddr,
            inputDeviceAddr,
            weightDeviceAddr,
            targetMaskDeviceAddr,
            maskedTargetDeviceAddr,
            softmaxOptionalDeviceAddr,
            inputGradOutDeviceAddr,
            weightGradOutDeviceAddr,
            workspaceAddr,
        ),
    )


if __name__ == "__main__":
    main()
