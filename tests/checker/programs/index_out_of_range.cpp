// bad-index aclnnNLLLoss target: a class that is not there counts for nothing.
#include "aclnnop/aclnn_nll_loss.h"
#include <initializer_list>

#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const int64_t targets[] = {1, fixed ? 3 : 4, -100, 0};
    void *x = Zeros(), *weight = Zeros(), *target = Zeros(sizeof targets), *loss = Zeros(), *total = Zeros();
    MUST(aclrtMemcpy(target, sizeof targets, targets, sizeof targets, ACL_MEMCPY_HOST_TO_DEVICE));
    const int64_t matrix[] = {4, 4};
    aclTensor* tensors[] = {
        aclCreateTensor(matrix, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, matrix, 2, x),
        Vector(target, 4, ACL_INT64),
        Vector(weight, 4),
        Vector(loss, 1),
        Vector(total, 1),
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    MUST(aclnnNLLLossGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, -100, tensors[3], tensors[4], &size, &executor));
    MUST(aclnnNLLLoss(session.room, ROOM, executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    for (aclTensor* tensor : tensors) MUST(aclDestroyTensor(tensor));
    for (void* memory : {x, weight, target, loss, total}) MUST(aclrtFree(memory));
}
