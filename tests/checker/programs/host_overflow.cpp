// out-of-bounds aclrtFreeHost hostPtr: the program writes one element too many into host memory.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = nullptr;
    MUST(aclrtMallocHost(&memory, BYTES));  // BORN
    for (int64_t i = 0; i < COUNT + (fixed ? 0 : 1); ++i) {
        static_cast<float*>(memory)[i] = 1;
    }
    MUST(aclrtFreeHost(memory));  // BUG
}
