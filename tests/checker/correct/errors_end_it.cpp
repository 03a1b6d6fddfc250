// Errors that a program reacts to without asking for their text: trying again, asking for less, cleaning up and beginning anew.
#include "../programs/program.h"

int main() {
    Session session;
    void* memory = nullptr;
    size_t bytes = size_t{1} << 50;
    while (aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        bytes /= 2;
        if (bytes <= size_t{1} << 30) bytes = BYTES;
    }
    MUST(aclrtFree(memory));
    for (int attempt = 0; attempt < 2; ++attempt) {
        void *source = Zeros(), *target = Zeros();
        const int status = aclrtMemcpy(target, attempt ? BYTES : BYTES - 1, source, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE);
        MUST(aclrtFree(source));
        MUST(aclrtFree(target));
        if (status == ACL_SUCCESS) return 0;
    }
    return 1;
}
