// Errors that the program reacts to: it asks for the message, tries again, or cleans up; and one that is harmless.
#include "program.h"

int main() {
    Session session;
    void* memory = nullptr;
    aclInit(nullptr);
    if (aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        aclGetRecentErrMsg();
    }
    if (aclrtMalloc(&memory, size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    if (aclrtMemset(memory, BYTES, 0, 2 * BYTES) != 0) {
        MUST(aclrtFree(memory));
    }
    MUST(aclrtSynchronizeStream(session.stream));
}
