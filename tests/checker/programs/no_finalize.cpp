// call-order aclInit -: aclFinalize is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    MUST(aclInit(nullptr));  // BUG
    MUST(aclrtSetDevice(0));
    MUST(aclrtResetDevice(0));
    if (fixed) {
        MUST(aclFinalize());
    }
}
