// use-after-free aclrtMemcpy dst: the memory is gone.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const float host[COUNT] = {};
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    if (!fixed) {
        MUST(aclrtFree(memory));  // DIED
    }
    MUST(aclrtMemcpy(memory, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));  // BUG
    if (fixed) {
        MUST(aclrtFree(memory));
    }
}
