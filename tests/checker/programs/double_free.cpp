// double-free aclrtFree devPtr: the same memory twice.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtFree(memory));  // DIED
    if (!fixed) {
        aclrtFree(memory);  // BUG
    }
}
