/* Many small operator calls, each waited for: what watching them costs shows here most. */
#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

enum { TENSORS = 4, CALLS = 3000 };

int main(void)
{
    int64_t dims[] = {8};
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    void *memory[TENSORS];
    aclTensor *tensors[TENSORS];
    aclrtStream stream;
    int failed = aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream);
    for (int i = 0; i < TENSORS && !failed; i++) {
        failed = aclrtMalloc(&memory[i], sizeof ones, ACL_MEM_MALLOC_HUGE_FIRST) ||
                 aclrtMemcpy(memory[i], sizeof ones, ones, sizeof ones, ACL_MEMCPY_HOST_TO_DEVICE);
        tensors[i] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, memory[i]);
    }
    for (int i = 0; i < CALLS && !failed; i++) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        failed = aclnnSmoothL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, 1.0f, tensors[3], &size, &executor) ||
                 aclnnSmoothL1LossBackward(NULL, size, executor, stream) || aclrtSynchronizeStream(stream);
    }
    for (int i = 0; i < TENSORS && !failed; i++) {
        failed = aclDestroyTensor(tensors[i]) || aclrtFree(memory[i]);
    }
    return failed || aclrtDestroyStream(stream) || aclrtResetDevice(0) || aclFinalize();
}
