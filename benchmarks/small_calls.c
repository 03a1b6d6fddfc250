/* Small calls from C, in loops that another side can be timed against in the same process. Every function returns the first failure. */
#include "acl/acl.h"
#include "aclnnop/aclnn_foreach_neg.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

enum { TENSORS = 4, ELEMENTS = 8, AXES = 5, LENGTHS = 10, WORK = 1 << 20 };

static const int64_t dims[] = {ELEMENTS};
static void *memory[TENSORS];
static aclTensor *tensors[TENSORS];
static void *work;
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
    failed = failed ? failed : aclrtMalloc(&work, WORK, ACL_MEM_MALLOC_HUGE_FIRST);
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

int small_scalars(int calls)
{
    const float value = 1;
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        failed = aclDestroyScalar(aclCreateScalar((void *)&value, ACL_FLOAT));
    }
    return failed;
}

int small_arrays(int calls)
{
    const int64_t values[] = {1, 2, 3};
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        failed = aclDestroyIntArray(aclCreateIntArray(values, 3));
    }
    return failed;
}

int small_allocated(int calls)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        void *address;
        failed = aclrtMalloc(&address, 256, ACL_MEM_MALLOC_HUGE_FIRST);
        failed = failed ? failed : aclrtFree(address);
    }
    return failed;
}

/* 64 bytes to the device, from the stack, and from memory that has to be looked at. */
static int copied(int calls, void *host)
{
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        failed = aclrtMemcpy(work, WORK, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
    }
    return failed;
}

int small_copied(int calls)
{
    char host[64] = {0};
    return copied(calls, host);
}

int small_copied_from_heap(int calls)
{
    static char host[64];
    return copied(calls, host);
}

/* Both phases for tensors that are made for them, waited for. */
static int call_once(const int64_t *shape, uint64_t rank, int64_t offset)
{
    aclTensor *own[TENSORS];
    for (int k = 0; k < TENSORS; k++) {
        own[k] = aclCreateTensor(shape, rank, ACL_FLOAT, NULL, offset, ACL_FORMAT_ND, shape, rank, work);
    }
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    int failed = aclnnSmoothL1LossBackwardGetWorkspaceSize(own[0], own[1], own[2], 0, 1.0f, own[3], &size, &executor);
    failed = failed ? failed : aclnnSmoothL1LossBackward(NULL, size, executor, stream);
    failed = failed ? failed : aclrtSynchronizeStream(stream);
    for (int k = 0; k < TENSORS; k++) {
        int destroyed = aclDestroyTensor(own[k]);
        failed = failed ? failed : destroyed;
    }
    return failed;
}

/* At a new offset each time. */
int small_offsets(int calls)
{
    static int64_t offset;
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        offset = (offset + 1) % (WORK / sizeof(float) - ELEMENTS);
        failed = call_once(dims, 1, offset);
    }
    return failed;
}

/* In a new shape each time: LENGTHS to the power of AXES of them, the smaller ones first. */
int small_shapes(int calls)
{
    static int64_t number;
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++, number++) {
        int64_t shape[AXES], rest = number;
        for (int k = AXES - 1; k >= 0; k--, rest /= LENGTHS) {
            shape[k] = 2 + rest % LENGTHS;
        }
        failed = call_once(shape, AXES, 0);
    }
    return failed;
}

/* An operator over lists of eight tensors, waited for each time. */
int small_listed(int calls)
{
    const aclTensor *members[2][8];
    aclTensorList *lists[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 8; i++) {
            members[k][i] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, (k * 8 + i) * ELEMENTS, ACL_FORMAT_ND, dims, 1, work);
        }
        lists[k] = aclCreateTensorList(members[k], 8);
    }
    int failed = 0;
    for (int i = 0; i < calls && !failed; i++) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        failed = aclnnForeachNegGetWorkspaceSize(lists[0], lists[1], &size, &executor);
        failed = failed ? failed : size > WORK / 2;
        failed = failed ? failed : aclnnForeachNeg((char *)work + WORK / 2, size, executor, stream);
        failed = failed ? failed : aclrtSynchronizeStream(stream);
    }
    return aclDestroyTensorList(lists[0]) || aclDestroyTensorList(lists[1]) || failed;
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
    int failed = aclrtDestroyStream(stream) || aclrtFree(work);
    for (int i = 0; i < TENSORS; i++) {
        failed = failed || aclDestroyTensor(tensors[i]) || aclrtFree(memory[i]);
    }
    return failed || aclrtResetDevice(0);
}
