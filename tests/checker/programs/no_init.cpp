// call-order aclrtSetDevice -: aclInit comes first.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    if (fixed) {
        MUST(aclInit(nullptr));
    }
    MUST(aclrtSetDevice(0));  // BUG
    MUST(aclrtResetDevice(0));
    if (fixed) {
        MUST(aclFinalize());
    }
}
