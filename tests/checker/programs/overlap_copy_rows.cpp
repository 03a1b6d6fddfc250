// overlap aclrtMemcpy2d dst: a copy that ends where it begins to read.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    char* memory = nullptr;
    MUST(aclrtMalloc(reinterpret_cast<void**>(&memory), 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtMemset(memory, 2 * BYTES, 0, 2 * BYTES));
    char* at = memory + (fixed ? BYTES : BYTES - 4);
    MUST(aclrtMemcpy2d(at, 16, memory, 16, 16, 4, ACL_MEMCPY_DEVICE_TO_DEVICE));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(memory));
}
