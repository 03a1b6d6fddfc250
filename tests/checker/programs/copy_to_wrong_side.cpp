// host-pointer aclrtMemcpy dst: a copy to the device that goes to the host.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const float from[COUNT] = {};
    float to[COUNT] = {};
    const aclrtMemcpyKind kind = fixed ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
    MUST(aclrtMemcpy(to, BYTES, from, BYTES, kind));  // BUG
}
