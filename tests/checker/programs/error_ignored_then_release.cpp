// error-ignored aclrtMemcpyAsync -: something is released next, then the program goes on with what failed.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void *one = Zeros(), *other = Zeros();
    float host[COUNT];
    aclrtMemcpyAsync(host, fixed ? BYTES : BYTES - 1, one, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, session.stream);  // BUG
    MUST(aclrtFree(other));
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(one));
}
