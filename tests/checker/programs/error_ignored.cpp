// error-ignored aclrtMalloc -: the status is not looked at.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    aclrtMalloc(&memory, fixed ? BYTES : 0, ACL_MEM_MALLOC_HUGE_FIRST);  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    if (fixed) {
        MUST(aclrtFree(memory));
    }
}
