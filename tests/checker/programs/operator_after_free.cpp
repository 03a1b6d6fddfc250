// use-after-free aclnnExp out: the output was freed between the phases.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    if (!fixed) {
        MUST(aclrtFree(exp.target));  // DIED
        exp.target = nullptr;
    }
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
}
