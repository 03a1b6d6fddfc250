// workspace-freed aclrtFree devPtr: the work that uses it is still queued.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    NeedsWorkspace work;
    void* workspace = nullptr;
    MUST(aclrtMalloc(&workspace, work.size, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclnnLogSoftmaxBackward(workspace, work.size, work.executor, session.stream));  // DIED
    if (fixed) {
        MUST(aclrtSynchronizeStream(session.stream));
    }
    MUST(aclrtFree(workspace));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
}
