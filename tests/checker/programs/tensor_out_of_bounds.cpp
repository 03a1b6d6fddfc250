// out-of-bounds aclnnExp self: the tensor has twice as many elements as its memory.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* source = nullptr;
    void* target = Zeros();
    const size_t bytes = fixed ? BYTES : BYTES / 2;
    MUST(aclrtMalloc(&source, bytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtMemset(source, bytes, 0, bytes));
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
