// workspace-shared aclnnLogSoftmaxBackward workspace: another stream uses it at the same time.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    aclrtStream other = nullptr;
    MUST(aclrtCreateStream(&other));
    NeedsWorkspace one;
    NeedsWorkspace two;
    void* workspace = nullptr;
    MUST(aclrtMalloc(&workspace, one.size, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclnnLogSoftmaxBackward(workspace, one.size, one.executor, session.stream));  // DIED
    aclrtStream second = fixed ? session.stream : other;
    MUST(aclnnLogSoftmaxBackward(workspace, two.size, two.executor, second));  // BUG
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtFree(workspace));
    MUST(aclrtDestroyStream(other));
}
