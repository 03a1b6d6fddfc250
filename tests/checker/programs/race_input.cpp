// race aclrtMemcpy dst: the next input overwrites the one that is still to be read.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    const float next[COUNT] = {};
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // DIED
    if (fixed) {
        MUST(aclrtSynchronizeStream(session.stream));
    }
    MUST(aclrtMemcpy(exp.source, BYTES, next, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
}
