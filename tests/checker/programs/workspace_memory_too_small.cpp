// workspace-too-small aclnnLogSoftmaxBackward workspace: the size is right, the memory is of another call.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    NeedsWorkspace work;
    void* workspace = nullptr;
    MUST(aclrtMalloc(&workspace, fixed ? work.size : 32, ACL_MEM_MALLOC_HUGE_FIRST));  // BORN
    MUST(aclnnLogSoftmaxBackward(workspace, work.size, work.executor, session.stream));  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(workspace));
}
