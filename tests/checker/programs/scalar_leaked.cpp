// object-leaked aclCreateScalar -: aclDestroyScalar is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    float value = 1;
    aclScalar* scalar = aclCreateScalar(&value, ACL_FLOAT);  // BUG
    if (fixed) {
        MUST(aclDestroyScalar(scalar));
    }
}
