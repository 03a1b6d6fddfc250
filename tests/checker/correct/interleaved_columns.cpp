// Two streams write different columns of the same matrix: their bytes alternate, and none is shared.
#include "program.h"

int main() {
    Session session;
    aclrtStream other = nullptr;
    MUST(aclrtCreateStream(&other));
    void* input = Zeros();
    void* matrix = Zeros(2 * BYTES);
    void* room = Zeros(ROOM);
    const int64_t shape = COUNT;
    const int64_t stride = 2;
    const int64_t storage = 2 * COUNT;
    aclTensor* self = Vector(input);
    aclTensor* columns[2];
    for (int i = 0; i < 2; ++i) {
        columns[i] = aclCreateTensor(&shape, 1, ACL_FLOAT, &stride, i, ACL_FORMAT_ND, &storage, 1, matrix);
    }
    aclOpExecutor* even = PlanExp(self, columns[0]);
    aclOpExecutor* odd = PlanExp(self, columns[1]);
    MUST(aclnnExp(session.room, ROOM, even, session.stream));
    MUST(aclnnExp(room, ROOM, odd, other));
    MUST(aclrtSynchronizeDevice());
    MUST(aclDestroyTensor(self));
    MUST(aclDestroyTensor(columns[0]));
    MUST(aclDestroyTensor(columns[1]));
    MUST(aclrtFree(input));
    MUST(aclrtFree(matrix));
    MUST(aclrtFree(room));
    MUST(aclrtDestroyStream(other));
}
