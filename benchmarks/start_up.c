/* The smallest useful program: set a device, run one operator, wait. */
#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

int main(void)
{
    int64_t dims[] = {8};
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    void *memory[4];
    aclTensor *tensors[4];
    aclrtStream stream;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream)) {
        return 1;
    }
    for (int i = 0; i < 4; i++) {
        if (aclrtMalloc(&memory[i], sizeof ones, ACL_MEM_MALLOC_HUGE_FIRST) ||
            aclrtMemcpy(memory[i], sizeof ones, ones, sizeof ones, ACL_MEMCPY_HOST_TO_DEVICE)) {
            return 2;
        }
        tensors[i] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, memory[i]);
    }
    if (aclnnSmoothL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, 1.0f, tensors[3], &size, &executor) ||
        aclnnSmoothL1LossBackward(NULL, size, executor, stream) || aclrtSynchronizeStream(stream)) {
        return 3;
    }
    return aclFinalize();
}
