// memory-leaked aclrtMalloc -: aclrtFree is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
    if (fixed) {
        MUST(aclrtFree(memory));
    }
}
