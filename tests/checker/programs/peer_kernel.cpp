// peer-access aclnnExp self: a kernel of device 0 reads memory of device 1.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    MUST(aclrtSetDevice(1));
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtMemset(memory, BYTES, 0, BYTES));
    MUST(aclrtSetDevice(0));
    if (fixed) {
        MUST(aclrtDeviceEnablePeerAccess(1, 0));
    }
    void* result = Zeros();
    aclTensor* self = Vector(memory);
    aclTensor* out = Vector(result);
    aclOpExecutor* executor = PlanExp(self, out);
    MUST(aclnnExp(session.room, ROOM, executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclDestroyTensor(self));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(result));
    MUST(aclrtFree(memory));
    MUST(aclrtResetDevice(0));
    MUST(aclrtResetDevice(1));
}
