// uninitialized-read aclrtMemcpy src: nobody has written what is copied.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    float host[COUNT];
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    const size_t written = fixed ? BYTES : BYTES / 2;
    MUST(aclrtMemset(memory, BYTES, 0, written));
    MUST(aclrtMemcpy(host, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));  // BUG
    MUST(aclrtFree(memory));
}
