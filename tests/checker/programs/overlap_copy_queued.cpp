// overlap aclrtMemcpyAsync dst: a copy that ends where it begins to read.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    char* memory = nullptr;
    MUST(aclrtMalloc(reinterpret_cast<void**>(&memory), 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtMemset(memory, 2 * BYTES, 0, 2 * BYTES));
    char* at = memory + (fixed ? BYTES : BYTES - 4);
    MUST(aclrtMemcpyAsync(at, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(memory));
}
