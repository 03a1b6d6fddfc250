// object-leaked aclrtCreateStream -: aclrtDestroyStream is missing, and the device is not reset on that thread's behalf.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    MUST(aclrtCreateStream(&stream));  // BUG
    if (fixed) {
        MUST(aclrtDestroyStream(stream));
    }
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
}
