// object-leaked aclCreateTensor -: aclDestroyTensor is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    const int64_t shape = COUNT;
    aclTensor* tensor = aclCreateTensor(&shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &shape, 1, nullptr);  // BUG
    if (fixed) {
        MUST(aclDestroyTensor(tensor));
    }
}
