// What the programs share: the library and a device, memory with values, tensors, two operators.
#ifndef PROGRAM_H
#define PROGRAM_H

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"

#define MUST(call)                                \
    do {                                          \
        const int status_ = (call);               \
        if (status_ != 0) {                       \
            std::printf("%s: %d\n", #call, status_); \
            std::exit(99);                        \
        }                                         \
    } while (0)

const int64_t COUNT = 16;
const size_t BYTES = COUNT * sizeof(float);
const uint64_t ROOM = 1 << 16;

// aclInit to aclFinalize, with one stream, and room for the workspace of what runs on it.
struct Session {
    aclrtStream stream = nullptr;
    void* room = nullptr;
    Session() {
        MUST(aclInit(nullptr));
        MUST(aclrtSetDevice(0));
        MUST(aclrtCreateStream(&stream));
        MUST(aclrtMalloc(&room, ROOM, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    ~Session() {
        MUST(aclrtDestroyStream(stream));
        MUST(aclrtFree(room));
        MUST(aclrtResetDevice(0));
        MUST(aclFinalize());
    }
};

// Device memory that holds zeros.
inline void* Zeros(size_t bytes = BYTES) {
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(memory, bytes, 0, bytes));
    return memory;
}

inline aclTensor* Vector(void* memory, int64_t count = COUNT, aclDataType type = ACL_FLOAT) {
    aclTensor* tensor = aclCreateTensor(&count, 1, type, nullptr, 0, ACL_FORMAT_ND, &count, 1, memory);
    MUST(tensor == nullptr);
    return tensor;
}

// Phase one of out = exp(self).
inline aclOpExecutor* PlanExp(const aclTensor* self, aclTensor* out) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    MUST(aclnnExpGetWorkspaceSize(self, out, &size, &executor));
    MUST(size > ROOM);
    return executor;
}

// An operator that needs a workspace: FLOAT in, FLOAT16 out.
struct NeedsWorkspace {
    void* memory = Zeros();
    void* result = Zeros();
    aclTensor* in = Vector(memory);
    aclTensor* out = Vector(result, COUNT, ACL_FLOAT16);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    NeedsWorkspace() { Plan(); }
    void Plan() {
        MUST(aclnnLogSoftmaxBackwardGetWorkspaceSize(in, in, 0, out, &size, &executor));
        MUST(size == 0);
    }
    ~NeedsWorkspace() {
        MUST(aclDestroyTensor(in));
        MUST(aclDestroyTensor(out));
        MUST(aclrtFree(memory));
        MUST(aclrtFree(result));
    }
};

// Two vectors and the plan of exp from one to the other.
struct Exp {
    void* source = Zeros();
    void* target = Zeros();
    aclTensor* self = Vector(source);
    aclTensor* out = Vector(target);
    aclOpExecutor* executor = PlanExp(self, out);
    ~Exp() {
        MUST(aclDestroyTensor(self));
        MUST(aclDestroyTensor(out));
        MUST(aclrtFree(source));
        if (target != nullptr) {
            MUST(aclrtFree(target));
        }
    }
};

#endif
