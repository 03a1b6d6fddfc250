// use-after-destroy aclnnExpGetWorkspaceSize self: the tensor is gone.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));
    aclTensor* more = Vector(exp.source);
    if (!fixed) {
        MUST(aclDestroyTensor(more));  // DIED
    }
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclnnExpGetWorkspaceSize(more, exp.out, &size, &executor);  // BUG
    if (fixed) {
        MUST(aclDestroyAclOpExecutor(executor));
        MUST(aclDestroyTensor(more));
    }
    MUST(aclrtSynchronizeStream(session.stream));
}
