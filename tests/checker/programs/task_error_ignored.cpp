// error-ignored aclrtSynchronizeStream -: the work failed, and its result is used all the same.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    Exp exp;
    float host[COUNT];
    MUST(aclSetAclOpExecutorRepeatable(exp.executor));
    void* nowhere = static_cast<char*>(exp.source) + (int64_t{1} << 33);
    void* where = fixed ? exp.source : nowhere;
    MUST(aclSetInputTensorAddr(exp.executor, 0, exp.self, where));
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));  // ALSO out-of-bounds aclnnExp self
    aclrtSynchronizeStream(session.stream);  // BUG
    MUST(aclrtMemcpy(host, BYTES, exp.target, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    MUST(aclDestroyAclOpExecutor(exp.executor));
}
