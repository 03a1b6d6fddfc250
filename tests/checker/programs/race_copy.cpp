// race aclrtMemcpy src: the result is copied before anything has waited for it.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    float host[COUNT];
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // DIED
    if (fixed) {
        MUST(aclrtSynchronizeStream(session.stream));
    }
    MUST(aclrtMemcpy(host, BYTES, exp.target, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
}
