// Loaded before the emulator's library: counts what a program makes and destroys, and says at its end what is left.
#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <utility>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"

static std::atomic<int> made, devices, libraries, memory, streams, events, tensors;

template <typename F> static F Next(F, const char* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }
#define NEXT(function, ...) Next(function, #function)(__VA_ARGS__)
#define COUNT(function, counter, step, parameters, ...)      \
    extern "C" aclError function parameters {                \
        const aclError status = NEXT(function, __VA_ARGS__); \
        if (status == 0) { counter += step; made += step > 0; } \
        return status;                                       \
    }

COUNT(aclInit, libraries, 1, (const char* path), path)
COUNT(aclFinalize, libraries, -1, ())
COUNT(aclrtSetDevice, devices, 1, (int32_t id), id)
COUNT(aclrtResetDevice, devices, -1, (int32_t id), id)
COUNT(aclrtCreateStream, streams, 1, (aclrtStream* stream), stream)
COUNT(aclrtDestroyStream, streams, -1, (aclrtStream stream), stream)
COUNT(aclrtDestroyStreamForce, streams, -1, (aclrtStream stream), stream)
COUNT(aclrtCreateEvent, events, 1, (aclrtEvent* event), event)
COUNT(aclrtDestroyEvent, events, -1, (aclrtEvent event), event)
COUNT(aclrtMalloc, memory, 1, (void** address, size_t size, aclrtMemMallocPolicy policy), address, size, policy)
COUNT(aclrtFree, memory, -1, (void* address), address)
COUNT(aclDestroyTensor, tensors, -1, (const aclTensor* tensor), tensor)

extern "C" aclTensor* aclCreateTensor(const int64_t* dims, uint64_t count, aclDataType dtype, const int64_t* strides, int64_t offset,
                                      aclFormat format, const int64_t* storage, uint64_t storageCount, void* data) {
    aclTensor* tensor = NEXT(aclCreateTensor, dims, count, dtype, strides, offset, format, storage, storageCount, data);
    tensors += tensor != nullptr;
    return tensor;
}

// A list takes its tensors along.
extern "C" aclnnStatus aclDestroyTensorList(const aclTensorList* list) {
    uint64_t count = 0;
    aclGetTensorListSize(list, &count);
    const aclnnStatus status = NEXT(aclDestroyTensorList, list);
    if (status == 0) { tensors -= static_cast<int>(count); }
    return status;
}

__attribute__((destructor)) static void Report() {
    std::fprintf(stderr, "%d", made.load());
    const std::pair<const char*, int> left[] = {{"libraries", libraries}, {"devices", devices}, {"streams", streams},
                                                {"events", events},       {"memory", memory},   {"tensors", tensors}};
    for (const auto& entry : left) {
        if (entry.second != 0) {
            std::fprintf(stderr, " %s:%d", entry.first, entry.second);
        }
    }
}
