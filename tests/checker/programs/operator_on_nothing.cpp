// uninitialized-read aclnnExp self: the input was allocated, and never filled.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* source = nullptr;
    void* target = Zeros();
    MUST(aclrtMalloc(&source, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    if (fixed) {
        MUST(aclrtMemsetAsync(source, BYTES, 0, BYTES, session.stream));
    }
    aclTensor* self = Vector(source);
    aclTensor* out = Vector(target);
    aclOpExecutor* executor = PlanExp(self, out);
    MUST(aclnnExp(session.room, ROOM, executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclDestroyTensor(self));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(source));
    MUST(aclrtFree(target));
}
