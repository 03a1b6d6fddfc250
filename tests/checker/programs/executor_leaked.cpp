// executor-leaked aclnnExpGetWorkspaceSize executor: a repeatable one is the program's to destroy.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    MUST(aclnnExpGetWorkspaceSize(exp.self, exp.out, &size, &executor));  // BUG
    MUST(aclSetAclOpExecutorRepeatable(executor));
    MUST(aclnnExp(session.room, ROOM, executor, session.stream));
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));
    MUST(aclrtSynchronizeStream(session.stream));
    if (fixed) {
        MUST(aclDestroyAclOpExecutor(executor));
    }
}
