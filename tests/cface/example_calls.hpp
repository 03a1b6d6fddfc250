// Calls of operators, read from a file and carried out as a program does: see test_every_operator.py, which includes this file
// in front of one function for each operator.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        long long status_ = static_cast<long long>(call);                                                    \
        if (status_ != 0) {                                                                                  \
            const char *text_ = aclGetRecentErrMsg();                                                        \
            std::fprintf(stderr, "%s returned %lld: %s\n", #call, status_, text_ != nullptr ? text_ : ""); \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static std::FILE *calls;

static void read(void *where, size_t size)
{
    if (size != 0 && std::fread(where, size, 1, calls) != 1) {
        std::fprintf(stderr, "the file of calls ends early\n");
        std::exit(1);
    }
}

static int64_t read_number()
{
    int64_t number;
    read(&number, sizeof number);
    return number;
}

static std::vector<char> read_bytes()
{
    std::vector<char> bytes(static_cast<size_t>(read_number()));
    read(bytes.data(), bytes.size());
    return bytes;
}

struct Block {
    void *address;
    size_t size;
    bool output;
};

// What one call is given. Objects are destroyed, and memory is freed, when it is over.
class Arguments {
public:
    Arguments()
    {
        for (int64_t count = read_number(); count > 0; --count) {
            values_.push_back(read_value());
        }
    }

    ~Arguments()
    {
        for (auto object = objects_.rbegin(); object != objects_.rend(); ++object) {
            CHECK(object->destroy(object->address));
        }
        for (const Block &block : blocks) {
            if (block.address != nullptr) {
                CHECK(aclrtFree(block.address));
            }
        }
    }

    template <typename T> T *object(size_t index) const { return static_cast<T *>(values_[index].object); }
    int64_t whole(size_t index) const { return values_[index].whole; }
    double real(size_t index) const { return values_[index].real; }
    char *text(size_t index) { return values_[index].null ? nullptr : values_[index].text.data(); }

    std::vector<Block> blocks;

private:
    struct Value {
        bool null = false;
        void *object = nullptr;
        int64_t whole = 0;
        double real = 0;
        std::string text;
    };
    struct Object {
        void *address;
        aclnnStatus (*destroy)(void *);
    };

    template <typename T, aclnnStatus (*destroy)(const T *)> T *keep(T *object)
    {
        if (object == nullptr) {
            std::fprintf(stderr, "an object was not created: %s\n", aclGetRecentErrMsg());
            std::exit(1);
        }
        objects_.push_back({object, [](void *address) { return destroy(static_cast<const T *>(address)); }});
        return object;
    }

    aclTensor *read_tensor()
    {
        int64_t dtype = read_number(), format = read_number(), output = read_number(), offset = read_number();
        std::vector<int64_t> shape(static_cast<size_t>(read_number())), strides(shape.size());
        read(shape.data(), shape.size() * sizeof(int64_t));
        read(strides.data(), strides.size() * sizeof(int64_t));
        int64_t storage = read_number();
        std::vector<char> bytes = read_bytes();
        Block block{nullptr, bytes.size(), output != 0};
        if (block.size != 0) {
            CHECK(aclrtMalloc(&block.address, block.size, ACL_MEM_MALLOC_HUGE_FIRST));
            CHECK(aclrtMemcpy(block.address, block.size, bytes.data(), block.size, ACL_MEMCPY_HOST_TO_DEVICE));
        }
        blocks.push_back(block);
        return aclCreateTensor(shape.data(), shape.size(), static_cast<aclDataType>(dtype), strides.data(), offset,
                               static_cast<aclFormat>(format), &storage, 1, block.address);
    }

    aclScalar *read_scalar()
    {
        int64_t dtype = read_number();
        std::vector<char> bytes = read_bytes();
        return aclCreateScalar(bytes.data(), static_cast<aclDataType>(dtype));
    }

    // A list takes over its members: they are destroyed with it.
    template <typename T> std::vector<const T *> read_members(T *(Arguments::*read_member)())
    {
        std::vector<const T *> members(static_cast<size_t>(read_number()));
        for (const T *&member : members) {
            member = read_number() != 0 ? (this->*read_member)() : nullptr;
        }
        return members;
    }

    Value read_value()
    {
        Value value;
        std::vector<char> bytes;
        switch (read_number()) {
        case 0:
            value.null = true;
            break;
        case 1:
            value.object = keep<aclTensor, aclDestroyTensor>(read_tensor());
            break;
        case 2:
            value.whole = read_number();
            break;
        case 3:
            read(&value.real, sizeof value.real);
            break;
        case 4:
            bytes = read_bytes();
            value.text.assign(bytes.data(), bytes.size());
            break;
        case 5:
            value.object = keep<aclScalar, aclDestroyScalar>(read_scalar());
            break;
        case 6:
            bytes = read_bytes();
            value.object = keep<aclIntArray, aclDestroyIntArray>(
                aclCreateIntArray(reinterpret_cast<const int64_t *>(bytes.data()), bytes.size() / sizeof(int64_t)));
            break;
        case 7:
            bytes = read_bytes();
            value.object = keep<aclFloatArray, aclDestroyFloatArray>(
                aclCreateFloatArray(reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float)));
            break;
        case 8:
            bytes = read_bytes();
            value.object =
                keep<aclBoolArray, aclDestroyBoolArray>(aclCreateBoolArray(reinterpret_cast<const bool *>(bytes.data()), bytes.size()));
            break;
        case 9: {
            std::vector<const aclTensor *> members = read_members<aclTensor>(&Arguments::read_tensor);
            value.object = keep<aclTensorList, aclDestroyTensorList>(aclCreateTensorList(members.data(), members.size()));
            break;
        }
        case 10: {
            std::vector<const aclScalar *> members = read_members<aclScalar>(&Arguments::read_scalar);
            value.object = keep<aclScalarList, aclDestroyScalarList>(aclCreateScalarList(members.data(), members.size()));
            break;
        }
        default:
            std::fprintf(stderr, "the file of calls holds a kind of argument that is not known\n");
            std::exit(1);
        }
        return value;
    }

    std::vector<Value> values_;
    std::vector<Object> objects_;
};

struct Operator {
    const char *name;
    aclnnStatus (*plan)(Arguments &, uint64_t *, aclOpExecutor **);
    aclnnStatus (*run)(void *, uint64_t, aclOpExecutor *, aclrtStream);
};

// For each call: the status of the first phase, the size of its workspace, and the storage of every tensor that it writes.
static int carry_out(const Operator *operators, const char *input, const char *output)
{
    calls = std::fopen(input, "rb");
    std::FILE *results = std::fopen(output, "wb");
    if (calls == nullptr || results == nullptr) {
        std::perror("example_calls");
        return 1;
    }
    aclrtStream stream = nullptr;
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    for (int64_t count = read_number(); count > 0; --count) {
        const Operator &one = operators[read_number()];
        Arguments given;
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        int64_t status = one.plan(given, &size, &executor);
        if (status != 0) {
            std::fprintf(stderr, "%s: %s\n", one.name, aclGetRecentErrMsg());
        }
        std::fwrite(&status, sizeof status, 1, results);
        std::fwrite(&size, sizeof size, 1, results);
        if (status != 0) {
            continue;
        }
        void *workspace = nullptr;
        if (size != 0) {
            CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
        }
        CHECK(one.run(workspace, size, executor, stream));
        CHECK(aclrtSynchronizeStream(stream));
        for (const Block &block : given.blocks) {
            std::vector<char> bytes(block.size);
            if (block.output && block.size != 0) {
                CHECK(aclrtMemcpy(bytes.data(), block.size, block.address, block.size, ACL_MEMCPY_DEVICE_TO_HOST));
                std::fwrite(bytes.data(), block.size, 1, results);
            }
        }
        if (workspace != nullptr) {
            CHECK(aclrtFree(workspace));
        }
    }
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return std::fclose(calls) | std::fclose(results);
}
