// What all samples share: owners of device resources, encoding of half types, and the comparison of results.
#ifndef SAMPLE_SUPPORT_H
#define SAMPLE_SUPPORT_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#define LOG_PRINT(...) std::printf(__VA_ARGS__)

// Ends the calling function with exit code 1 when an ACL call does not succeed.
#define CHECK_RET(call)                            \
    do {                                           \
        const int status_ = (call);                \
        if (status_ != ACL_SUCCESS) {              \
            return ReportFailure(#call, status_);  \
        }                                          \
    } while (0)

inline int ReportFailure(const std::string& call, int status) {
    const char* message = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s failed with %d\n%s", call.substr(0, call.find('(')).c_str(), status, message == nullptr ? "" : message);
    return 1;
}

// Owners: each releases in its destructor what it holds, in the reverse order of the declarations in a program.

class Library {
public:
    Library() = default;
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() {
        if (started_) {
            aclFinalize();
        }
    }
    aclError Start() {
        const aclError status = aclInit(nullptr);
        started_ = status == ACL_SUCCESS;
        return status;
    }

private:
    bool started_ = false;
};

class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() {
        if (open_) {
            aclrtResetDevice(id_);
        }
    }
    aclError Open(int32_t id) {
        id_ = id;
        const aclError status = aclrtSetDevice(id);
        open_ = status == ACL_SUCCESS;
        return status;
    }

private:
    int32_t id_ = 0;
    bool open_ = false;
};

class Stream {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
        if (stream_ != nullptr) {
            aclrtDestroyStream(stream_);
        }
    }
    aclError Create() { return aclrtCreateStream(&stream_); }
    aclrtStream Get() const { return stream_; }

private:
    aclrtStream stream_ = nullptr;
};

// What most programs begin with: the library, one device, one stream.
class Session {
public:
    aclError Open(int32_t deviceId) {
        aclError status = library_.Start();
        if (status == ACL_SUCCESS) {
            status = device_.Open(deviceId);
        }
        return status == ACL_SUCCESS ? stream_.Create() : status;
    }
    aclrtStream GetStream() const { return stream_.Get(); }

private:
    Library library_;
    Device device_;
    Stream stream_;
};

class DeviceMemory {
public:
    DeviceMemory() = default;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory() {
        if (address_ != nullptr) {
            aclrtFree(address_);
        }
    }

    // No bytes need no memory: the address stays null, as phase two wants it for an empty workspace.
    aclError Allocate(uint64_t bytes) {
        return bytes == 0 ? ACL_SUCCESS : aclrtMalloc(&address_, static_cast<size_t>(bytes), ACL_MEM_MALLOC_HUGE_FIRST);
    }

    template <typename T>
    aclError AllocateFor(const std::vector<T>& values) {
        const size_t bytes = values.size() * sizeof(T);
        const aclError status = Allocate(bytes);
        return status != ACL_SUCCESS ? status : aclrtMemcpy(address_, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    }

    template <typename T>
    aclError Read(std::vector<T>* values) const {
        const size_t bytes = values->size() * sizeof(T);
        return aclrtMemcpy(values->data(), bytes, address_, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    }

    void* Address() const { return address_; }

private:
    void* address_ = nullptr;
};

typedef std::vector<int64_t> Dims;

inline size_t ElementCount(const Dims& dims) {
    size_t count = 1;
    for (int64_t length : dims) {
        count *= static_cast<size_t>(length);
    }
    return count;
}

inline Dims ContiguousStrides(const Dims& dims) {
    Dims strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * dims[i];
    }
    return strides;
}

class Tensor {
public:
    Tensor() = default;
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    ~Tensor() {
        if (tensor_ != nullptr) {
            aclDestroyTensor(tensor_);
        }
    }

    // A contiguous tensor on memory of its own.
    template <typename T>
    aclError Create(aclDataType dtype, const Dims& dims, const std::vector<T>& values) {
        return CreateView(dtype, dims, ContiguousStrides(dims), 0, dims, values);
    }

    // A view of a storage that holds the values; strides and offset count elements.
    template <typename T>
    aclError CreateView(aclDataType dtype, const Dims& dims, const Dims& strides, int64_t offset, const Dims& storageDims,
                        const std::vector<T>& storage) {
        const aclError status = memory_.AllocateFor(storage);
        if (status != ACL_SUCCESS) {
            return status;
        }
        tensor_ = aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), offset, ACL_FORMAT_ND, storageDims.data(),
                                  storageDims.size(), memory_.Address());
        return tensor_ == nullptr ? ACL_ERROR_FAILURE : ACL_SUCCESS;
    }

    aclTensor* Get() const { return tensor_; }
    const DeviceMemory& Memory() const { return memory_; }

private:
    DeviceMemory memory_;
    aclTensor* tensor_ = nullptr;
};

// Values

// The same values for the same seed on every machine, from a small multiplicative generator.
inline std::vector<float> RandomValues(size_t count, float low, float high, uint32_t seed) {
    const uint64_t modulus = 2147483647;
    uint64_t state = seed * 48271ULL % modulus;
    std::vector<float> values(count);
    for (float& value : values) {
        state = state * 48271 % modulus;
        value = static_cast<float>(low + (high - low) * (static_cast<double>(state) / static_cast<double>(modulus)));
    }
    return values;
}

inline std::vector<aclFloat16> ToHalf(const std::vector<float>& values) {
    std::vector<aclFloat16> bits(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        bits[i] = aclFloatToFloat16(values[i]);
    }
    return bits;
}

// Decoded by hand, so that a comparison does not rest on the library's own conversion.
inline std::vector<double> FromHalf(const std::vector<aclFloat16>& bits) {
    std::vector<double> values(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) {
        const int exponent = (bits[i] >> 10) & 31;
        const int fraction = bits[i] & 1023;
        const double special = fraction == 0 ? INFINITY : NAN;
        const double finite = std::ldexp(exponent == 0 ? fraction : fraction + 1024, std::max(exponent, 1) - 25);
        const double magnitude = exponent == 31 ? special : finite;
        values[i] = (bits[i] >> 15) != 0 ? -magnitude : magnitude;
    }
    return values;
}

// BF16 is the upper half of a FLOAT; ties go to the even neighbour.
inline std::vector<uint16_t> ToBfloat16(const std::vector<float>& values) {
    std::vector<uint16_t> bits(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        uint32_t word = 0;
        std::memcpy(&word, &values[i], sizeof(word));
        bits[i] = static_cast<uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
    }
    return bits;
}

inline std::vector<double> FromBfloat16(const std::vector<uint16_t>& bits) {
    std::vector<double> values(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) {
        const uint32_t word = static_cast<uint32_t>(bits[i]) << 16;
        float value = 0;
        std::memcpy(&value, &word, sizeof(value));
        values[i] = value;
    }
    return values;
}

template <typename T>
std::vector<double> ToDouble(const std::vector<T>& values) {
    return std::vector<double>(values.begin(), values.end());
}

inline std::vector<float> ToFloat(const std::vector<double>& values) {
    std::vector<float> rounded(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        rounded[i] = static_cast<float>(values[i]);
    }
    return rounded;
}

// Results

// What aclnnSmoothL1LossBackward multiplies gradOut with when nothing is reduced.
inline double SmoothL1Slope(double self, double target, double beta) {
    const double difference = self - target;
    return std::fabs(difference) < beta ? difference / beta : std::copysign(1.0, difference);
}

struct Tolerance {
    double relative;
    double absolute;
};

const Tolerance FLOAT_TOLERANCE = {std::ldexp(1.0, -16), 1e-6};
const Tolerance HALF_TOLERANCE = {std::ldexp(1.0, -10), 1e-7};

// Prints one line; the number that it returns is the program's exit code: 0 when every value is within the tolerance.
inline int Compare(const char* name, const std::vector<double>& actual, const std::vector<double>& expected, Tolerance tolerance) {
    if (actual.size() != expected.size()) {
        LOG_PRINT("%s: %zu values, expected %zu\n", name, actual.size(), expected.size());
        return 1;
    }
    for (size_t i = 0; i < expected.size(); ++i) {
        if (!(std::fabs(actual[i] - expected[i]) <= tolerance.absolute + tolerance.relative * std::fabs(expected[i]))) {
            LOG_PRINT("%s[%zu] is %.9g, expected %.9g\n", name, i, actual[i], expected[i]);
            return 1;
        }
    }
    LOG_PRINT("%s: all %zu values agree with the formula\n", name, expected.size());
    return 0;
}

#endif
