// call-order aclFinalize -: aclrtResetDevice is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));  // DIED
    if (fixed) {
        MUST(aclrtResetDevice(0));
    }
    MUST(aclFinalize());  // BUG
}
