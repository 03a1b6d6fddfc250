// host-pointer aclnnExp self: the tensor lies over an array of the host.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    float host[COUNT] = {};
    void* source = Zeros();
    void* target = Zeros();
    aclTensor* self = Vector(fixed ? source : host);
    aclTensor* out = Vector(target);
    aclOpExecutor* executor = PlanExp(self, out);
    MUST(aclnnExp(session.room, ROOM, executor, session.stream));  // BUG
    aclrtSynchronizeStream(session.stream);
    aclGetRecentErrMsg();
    MUST(aclDestroyTensor(self));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(source));
    MUST(aclrtFree(target));
}
