// What a global object owns is released after main, by a destructor that was registered before the library was.
#include "program.h"

struct Owner {
    Session* session = nullptr;
    void* memory = nullptr;
    ~Owner() {
        MUST(aclrtFree(memory));
        delete session;
    }
};

Owner owner;

int main() {
    owner.session = new Session;
    owner.memory = Zeros();
}
