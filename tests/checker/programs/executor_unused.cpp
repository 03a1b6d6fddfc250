// executor-unused aclnnExpGetWorkspaceSize executor: phase one alone.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    MUST(aclnnExpGetWorkspaceSize(exp.self, exp.out, &size, &executor));  // BUG
    if (fixed) {
        MUST(aclDestroyAclOpExecutor(executor));
    }
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));
    MUST(aclrtSynchronizeStream(session.stream));
}
