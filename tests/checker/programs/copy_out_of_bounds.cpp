// out-of-bounds aclrtMemcpy src: a FLOAT16 result is read back as if it were FLOAT.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    float host[COUNT];
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES / 2, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtMemset(memory, BYTES / 2, 0, BYTES / 2));
    const size_t bytes = fixed ? BYTES / 2 : BYTES;
    MUST(aclrtMemcpy(host, BYTES, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));  // BUG
    MUST(aclrtFree(memory));
}
