// race aclrtMemcpy src: the event was recorded before the work that matters.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    aclrtEvent event = nullptr;
    float host[COUNT];
    MUST(aclrtCreateEvent(&event));
    Exp exp;
    if (!fixed) {
        MUST(aclrtRecordEvent(event, session.stream));
    }
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // DIED
    if (fixed) {
        MUST(aclrtRecordEvent(event, session.stream));
    }
    MUST(aclrtSynchronizeEvent(event));
    MUST(aclrtMemcpy(host, BYTES, exp.target, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtDestroyEvent(event));
}
