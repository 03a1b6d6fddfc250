// call-order aclrtCreateStream -: aclrtSetDevice comes first.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    aclrtStream stream = nullptr;
    MUST(aclInit(nullptr));
    if (fixed) {
        MUST(aclrtSetDevice(0));
    }
    aclrtCreateStream(&stream);  // BUG
    if (fixed) {
        MUST(aclrtDestroyStream(stream));
        MUST(aclrtResetDevice(0));
    }
    MUST(aclFinalize());
}
