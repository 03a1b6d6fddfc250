// memory-leaked aclrtMallocHost -: aclrtFreeHost is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMallocHost(&memory, BYTES));  // BUG
    if (fixed) {
        MUST(aclrtFreeHost(memory));
    }
}
