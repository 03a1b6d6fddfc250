// freed-in-use aclrtFree devPtr: the output is freed while the work that writes it is queued.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // DIED
    if (fixed) {
        MUST(aclrtSynchronizeStream(session.stream));
    }
    MUST(aclrtFree(exp.target));  // BUG
    exp.target = nullptr;
    MUST(aclrtSynchronizeStream(session.stream));
}
