// One thread waits for the stream, another one, which has joined it, uses the result.
#include <thread>

#include "program.h"

int main() {
    Session session;
    Exp exp;
    float host[COUNT];
    MUST(aclnnExp(session.room, ROOM, exp.executor, session.stream));
    std::thread waits([&] {
        MUST(aclrtSetDevice(0));
        MUST(aclrtSynchronizeStream(session.stream));
        MUST(aclrtResetDevice(0));
    });
    waits.join();
    MUST(aclrtMemcpy(host, BYTES, exp.target, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
}
