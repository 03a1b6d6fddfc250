// executor-reused aclnnExp executor: it was not made repeatable.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    if (fixed) {
        MUST(aclSetAclOpExecutorRepeatable(exp.executor));
    }
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // DIED
    aclnnExp(session.room, ROOM, exp.executor, session.stream);  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    if (fixed) {
        MUST(aclDestroyAclOpExecutor(exp.executor));
    }
}
