// race aclnnExp self: the second stream does not wait for the first.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    aclrtStream other = nullptr;
    aclrtEvent event = nullptr;
    MUST(aclrtCreateStream(&other));
    MUST(aclrtCreateEvent(&event));
    Exp exp;
    void* result = Zeros();
    void* room = Zeros(ROOM);
    aclTensor* out = Vector(result);
    aclOpExecutor* executor = PlanExp(exp.out, out);
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // DIED
    MUST(aclrtRecordEvent(event, session.stream));
    if (fixed) {
        MUST(aclrtStreamWaitEvent(other, event));
    }
    MUST(aclnnExp(room, ROOM, executor, other));  // BUG
    MUST(aclrtSynchronizeStream(other));
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(result));
    MUST(aclrtFree(room));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(other));
}
