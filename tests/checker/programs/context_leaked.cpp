// object-leaked aclrtCreateContext -: aclrtDestroyContext is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    aclrtContext before = nullptr;
    aclrtContext context = nullptr;
    MUST(aclrtGetCurrentContext(&before));
    MUST(aclrtCreateContext(&context, 0));  // BUG
    MUST(aclrtSetCurrentContext(before));
    if (fixed) {
        MUST(aclrtDestroyContext(context));
    }
}
