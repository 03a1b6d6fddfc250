// error-ignored aclrtMemcpy -: the next call is the same function, for something else.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    void *one = Zeros(), *other = Zeros();
    float host[COUNT];
    aclrtMemcpy(host, fixed ? BYTES : BYTES - 1, one, BYTES, ACL_MEMCPY_DEVICE_TO_HOST);  // BUG
    MUST(aclrtMemcpy(host, BYTES, other, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    MUST(aclrtFree(one));
    MUST(aclrtFree(other));
}
