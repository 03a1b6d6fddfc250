// freed-in-use aclrtFreeHost hostPtr: a queued copy still reads it.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* device = Zeros();
    void* host = nullptr;
    MUST(aclrtMallocHost(&host, BYTES));  // BORN
    MUST(aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, session.stream));  // DIED
    if (fixed) {
        MUST(aclrtSynchronizeStream(session.stream));
    }
    MUST(aclrtFreeHost(host));  // BUG
    aclrtSynchronizeStream(session.stream);
    aclGetRecentErrMsg();
    MUST(aclrtFree(device));
}
