// bad-index aclnnScatterNdUpdate indices: a place that is not there counts for nothing.
#include "aclnnop/aclnn_scatter_nd_update.h"
#include <initializer_list>

#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const int64_t places[] = {2, fixed ? 1 : 4};
    void *self = Zeros(), *index = Zeros(sizeof places), *source = Zeros();
    MUST(aclrtMemcpy(index, sizeof places, places, sizeof places, ACL_MEMCPY_HOST_TO_DEVICE));
    const int64_t pairs[] = {2, 1};
    aclTensor* tensors[] = {
        Vector(self, 4),
        aclCreateTensor(pairs, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, pairs, 2, index),
        Vector(source, 2),
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    MUST(aclnnScatterNdUpdateGetWorkspaceSize(tensors[0], tensors[1], tensors[2], &size, &executor));
    MUST(aclnnScatterNdUpdate(session.room, ROOM, executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    for (aclTensor* tensor : tensors) MUST(aclDestroyTensor(tensor));
    for (void* memory : {self, index, source}) MUST(aclrtFree(memory));
}
