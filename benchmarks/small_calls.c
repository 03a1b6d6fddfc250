/* Small calls from C, in loops that another side can be timed against in the same process. Every function returns the first failure. */
#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

enum { TENSORS = 4, ELEMENTS = 8 };

static const int64_t dims[] = {ELEMENTS};
static void *memory[TENSORS];
static aclTensor *tensors[TENSORS];
static aclrtStream stream;

static int plan(uint64_t *size, aclOpExecutor **executor)
{
    return aclnnSmoothL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, 1.0f, tensors[3], size, executor);
}

static int launch(void)
{
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    int failed = plan(&size, &executor);
    return failed ? failed : aclnnSmoothL1LossBackward(NULL, size, executor, stream);
}

int small_prepare(const float *values)
{
    int failed = aclrtSetDevice(0);
    failed = failed ? failed : aclrtCreateStream(&stream);
    for (int i = 0; i < TENSORS && !failed; i++) {
        failed = aclrtMalloc(&memory[i], ELEMENTS * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST);
        failed = failed ? failed
                        : aclrtMemcpy(memory[i], ELEMENTS * sizeof(float), values + i * ELEMENTS, ELEMENTS * sizeof(float),
                                      ACL_MEMCPY_HOST_TO_DEVICE);
        tensors[i] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, memory[i]);
    }
    return failed;
}

int small_result(float *values)
{
    return aclrtMemcpy(values, ELEMENTS * sizeof(float), memory[TENSORS - 1], ELEMENTS * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST);
}

/* Both phases, waited for each time. */
int small_waited(int calls)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        failed = launch();
        failed = failed ? failed : aclrtSynchronizeStream(stream);
    }
    return failed;
}

/* Both phases, waited for at the end. */
int small_queued(int calls)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        failed = launch();
    }
    return failed ? failed : aclrtSynchronizeStream(stream);
}

/* Phase one again and again; its executors are not used. */
int small_planned(int calls)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        failed = plan(&size, &executor);
        failed = failed ? failed : aclDestroyAclOpExecutor(executor);
    }
    return failed;
}

int small_created(int calls)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        failed = aclDestroyTensor(aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, memory[0]));
    }
    return failed;
}

/* A program that makes everything anew for every call, and gives it back. */
int small_lives(int calls)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        aclTensor *own[TENSORS];
        for (int k = 0; k < TENSORS; k++) {
            own[k] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, memory[k]);
        }
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        failed = aclnnSmoothL1LossBackwardGetWorkspaceSize(own[0], own[1], own[2], 0, 1.0f, own[3], &size, &executor);
        failed = failed ? failed : aclnnSmoothL1LossBackward(NULL, size, executor, stream);
        failed = failed ? failed : aclrtSynchronizeStream(stream);
        for (int k = 0; k < TENSORS; k++) {
            int destroyed = aclDestroyTensor(own[k]);
            failed = failed ? failed : destroyed;
        }
    }
    return failed;
}

int small_finish(void)
{
    int failed = aclrtDestroyStream(stream);
    for (int i = 0; i < TENSORS; i++) {
        failed = failed || aclDestroyTensor(tensors[i]) || aclrtFree(memory[i]);
    }
    return failed || aclrtResetDevice(0);
}
