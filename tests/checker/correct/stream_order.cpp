// Tensors are destroyed and the workspace is used again right after phase two, in stream order.
#include "program.h"

int main() {
    Session session;
    void* memory = Zeros();
    for (int i = 0; i < 3; ++i) {
        aclTensor* both = Vector(memory);
        aclOpExecutor* executor = PlanExp(both, both);
        MUST(aclnnExp(session.room, ROOM, executor, session.stream));
        MUST(aclDestroyTensor(both));
    }
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(memory));
}
