// workspace-missing aclnnLogSoftmaxBackward workspace: phase one asked for some.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    NeedsWorkspace work;
    void* workspace = Zeros(work.size);
    aclnnLogSoftmaxBackward(fixed ? workspace : nullptr, work.size, work.executor, session.stream);  // BUG
    MUST(aclrtSynchronizeStream(session.stream));
    MUST(aclrtFree(workspace));
}
