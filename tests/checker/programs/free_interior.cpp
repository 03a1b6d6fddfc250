// bad-free aclrtFree devPtr: not the pointer that aclrtMalloc gave.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    if (!fixed) {
        aclrtFree(static_cast<char*>(memory) + 32);  // BUG
    }
    MUST(aclrtFree(memory));
}
