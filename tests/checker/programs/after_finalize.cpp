// call-order aclrtSetDevice -: the library has ended.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    MUST(aclInit(nullptr));
    MUST(aclFinalize());  // DIED
    if (fixed) {
        MUST(aclInit(nullptr));
    }
    MUST(aclrtSetDevice(0));  // BUG
    MUST(aclrtResetDevice(0));
    if (fixed) {
        MUST(aclFinalize());
    }
}
