// object-leaked aclrtCreateEvent -: aclrtDestroyEvent is missing.
#include "program.h"

int main(int count, char**) {
    const bool fixed = count > 1;
    Session session;
    aclrtEvent event = nullptr;
    MUST(aclrtCreateEvent(&event));  // BUG
    if (fixed) {
        MUST(aclrtDestroyEvent(event));
    }
}
