// error-ignored aclrtMemcpy -: everything is released next, and the program says that all is well.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* memory = Zeros();
    float host[COUNT];
    aclrtMemcpy(host, fixed ? BYTES : BYTES - 1, memory, BYTES, ACL_MEMCPY_DEVICE_TO_HOST);  // BUG
    MUST(aclrtFree(memory));
    return 0;
}
