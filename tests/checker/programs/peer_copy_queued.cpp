// peer-access aclrtMemcpyAsync dst: a copy from device 0 to device 1.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* source = Zeros();
    MUST(aclrtSetDevice(1));
    void* target = nullptr;
    MUST(aclrtMalloc(&target, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclrtSetDevice(0));
    if (fixed) {
        MUST(aclrtDeviceEnablePeerAccess(1, 0));
    }
    MUST(aclrtMemcpyAsync(target, BYTES, source, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(source));
    MUST(aclrtFree(target));
    MUST(aclrtResetDevice(0));
    MUST(aclrtResetDevice(1));
}
