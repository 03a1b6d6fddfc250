// device-pointer aclrtMemcpy dst: a copy to the host that stays on the device.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void* from = Zeros();
    void* to = Zeros();
    const aclrtMemcpyKind kind = fixed ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    MUST(aclrtMemcpy(to, BYTES, from, BYTES, kind));  // BUG
    MUST(aclrtFree(from));
    MUST(aclrtFree(to));
}
