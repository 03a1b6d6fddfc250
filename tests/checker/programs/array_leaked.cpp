// object-leaked aclCreateIntArray -: aclDestroyIntArray is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const int64_t values[] = {1, 2};
    aclIntArray* array = aclCreateIntArray(values, 2);  // BUG
    if (fixed) {
        MUST(aclDestroyIntArray(array));
    }
}
