// overlap aclnnExp out: the output begins in the middle of the input.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtMemset(memory, 2 * BYTES, 0, 2 * BYTES));
    aclTensor* self = Vector(memory);
    aclTensor* out = Vector(static_cast<char*>(memory) + (fixed ? 0 : 4));
    aclOpExecutor* executor = PlanExp(self, out);
    MUST(aclnnExp(session.room, ROOM, executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclDestroyTensor(self));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(memory));
}
