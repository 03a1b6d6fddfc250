// bad-free aclrtFree devPtr: page-locked host memory has its own free function.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMallocHost(&memory, BYTES));  // BORN
    if (!fixed) {
        aclrtFree(memory);  // BUG
    }
    MUST(aclrtFreeHost(memory));
}
