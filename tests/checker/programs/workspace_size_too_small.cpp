// workspace-too-small aclnnLogSoftmaxBackward workspaceSize: less than phase one asked for.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    NeedsWorkspace work;
    void* workspace = Zeros(work.size);
    aclnnLogSoftmaxBackward(workspace, fixed ? work.size : work.size - 1, work.executor, session.stream);  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(workspace));
}
