// call-order aclrtResetDevice -: once per aclrtSetDevice.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    MUST(aclrtResetDevice(0));
    if (!fixed) {
        aclrtResetDevice(0);  // BUG
    }
    MUST(aclFinalize());
}
