// bad-free aclrtFree devPtr: memory of malloc.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = std::malloc(BYTES);
    if (!fixed) {
        aclrtFree(memory);  // BUG
    }
    std::free(memory);
}
