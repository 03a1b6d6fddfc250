// object-leaked aclCreateTensorList -: aclDestroyTensorList is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    aclTensorList* list = aclCreateTensorList(nullptr, 0);  // BUG
    if (fixed) {
        MUST(aclDestroyTensorList(list));
    }
}
