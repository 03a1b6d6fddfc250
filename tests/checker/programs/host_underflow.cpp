// out-of-bounds aclrtMemcpy src: the program writes before host memory, and copies it.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* device = Zeros();
    void* memory = nullptr;
    MUST(aclrtMallocHost(&memory, BYTES));  // BORN
    char* volatile bytes = static_cast<char*>(memory);
    bytes[fixed ? 0 : -3000] = 1;
    MUST(aclrtMemcpy(device, BYTES, memory, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));  // BUG
    MUST(aclrtFreeHost(memory));
    MUST(aclrtFree(device));
}
