// repeated-index aclnnInplaceIndexCopy index: which of two slices stays nobody knows.
#include "aclnnop/aclnn_index_copy.h"
#include <initializer_list>

#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const int64_t places[] = {2, fixed ? 1 : 2};
    void *self = Zeros(), *index = Zeros(sizeof places), *source = Zeros();
    MUST(aclrtMemcpy(index, sizeof places, places, sizeof places, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor* tensors[] = {Vector(self, 4), Vector(index, 2, ACL_INT64), Vector(source, 2)};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    MUST(aclnnInplaceIndexCopyGetWorkspaceSize(tensors[0], 0, tensors[1], tensors[2], &size, &executor));
    MUST(aclnnInplaceIndexCopy(session.room, ROOM, executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    for (aclTensor* tensor : tensors) MUST(aclDestroyTensor(tensor));
    for (void* memory : {self, index, source}) MUST(aclrtFree(memory));
}
