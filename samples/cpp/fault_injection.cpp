// A program that goes on after failures: less memory than hoped for, tasks that fail, a stream that hangs. Make them happen with
//   acl-emu run --fault aclnnSmoothL1LossBackward:task:1=507015 samples/cpp/fault_injection.cpp
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "sample_support.h"

namespace {

const size_t ROWS = 8;
const size_t COLUMNS = 64;
const float BETA = 0.5F;
const int64_t REDUCTION_NONE = 0;
const int32_t TIMEOUT_MS = 2000;
const int MOST_RETRIES = 3;

// A stream that can be given up without waiting for it.
class ReplaceableStream {
public:
    ReplaceableStream() = default;
    ReplaceableStream(const ReplaceableStream&) = delete;
    ReplaceableStream& operator=(const ReplaceableStream&) = delete;
    ~ReplaceableStream() {
        if (stream_ != nullptr) {
            aclrtDestroyStream(stream_);
        }
    }
    aclError CreateWhereMissing() { return stream_ != nullptr ? ACL_SUCCESS : aclrtCreateStream(&stream_); }
    void Abandon() {
        aclrtDestroyStreamForce(stream_);
        stream_ = nullptr;
    }
    aclrtStream Get() const { return stream_; }

private:
    aclrtStream stream_ = nullptr;
};

struct Problem {
    std::vector<float> gradOut;
    std::vector<float> self;
    std::vector<float> target;
    std::vector<float> gradInput;
};

std::vector<float> Rows(const std::vector<float>& values, size_t first, size_t count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * COLUMNS);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count * COLUMNS));
}

// Rows first to first + count. Whatever fails, everything that was made is released; the executor is gone once phase two was called.
int RunBatch(ReplaceableStream* stream, Problem* problem, size_t first, size_t count) {
    int status = stream->CreateWhereMissing();
    if (status != ACL_SUCCESS) {
        return status;
    }
    const Dims dims = {static_cast<int64_t>(count), static_cast<int64_t>(COLUMNS)};
    std::vector<float> result(count * COLUMNS);
    Tensor gradOut;
    Tensor self;
    Tensor target;
    Tensor gradInput;
    if ((status = gradOut.Create(ACL_FLOAT16, dims, ToHalf(Rows(problem->gradOut, first, count)))) != ACL_SUCCESS ||
        (status = self.Create(ACL_FLOAT, dims, Rows(problem->self, first, count))) != ACL_SUCCESS ||
        (status = target.Create(ACL_FLOAT, dims, Rows(problem->target, first, count))) != ACL_SUCCESS ||
        (status = gradInput.Create(ACL_FLOAT, dims, result)) != ACL_SUCCESS) {
        return status;
    }
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    status = aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut.Get(), self.Get(), target.Get(), REDUCTION_NONE, BETA, gradInput.Get(),
                                                       &workspaceSize, &executor);
    if (status != ACL_SUCCESS) {
        return status;
    }
    DeviceMemory workspace;
    status = workspace.Allocate(workspaceSize);
    if (status != ACL_SUCCESS) {
        aclDestroyAclOpExecutor(executor);
        return status;
    }
    status = aclnnSmoothL1LossBackward(workspace.Address(), workspaceSize, executor, stream->Get());
    if (status != ACL_SUCCESS) {
        return status;
    }
    status = aclrtSynchronizeStreamWithTimeout(stream->Get(), TIMEOUT_MS);
    if (status == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
        stream->Abandon();  // before the memory that its task may still use is released
    }
    if (status == ACL_SUCCESS) {
        status = gradInput.Memory().Read(&result);
    }
    if (status == ACL_SUCCESS) {
        std::copy(result.begin(), result.end(), problem->gradInput.begin() + static_cast<std::ptrdiff_t>(first * COLUMNS));
    }
    return status;
}

// What there is to do about a failure: true when the batch is to be tried again.
bool Recover(int status, size_t* batch, int* retries) {
    if (status == ACL_ERROR_RT_MEMORY_ALLOCATION && *batch > 1) {
        *batch /= 2;
        aclGetRecentErrMsg();
        LOG_PRINT("no room: from now on %zu rows at a time\n", *batch);
        return true;
    }
    const char* reaction = status == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT   ? "the stream hangs: another one"
                           : status == ACL_ERROR_RT_AICORE_EXCEPTION    ? "the task failed: again"
                           : status == ACL_ERROR_RT_DRV_INTERNAL_ERROR ? "the driver failed: again"
                                                                        : nullptr;
    if (reaction == nullptr || *retries == MOST_RETRIES) {
        return false;
    }
    ++*retries;
    aclGetRecentErrMsg();  // read, so that it does not stand beside the message of a later failure
    LOG_PRINT("%s\n", reaction);
    return true;
}

int FreeBytes(size_t* bytes) {
    size_t total = 0;
    return aclrtGetMemInfo(ACL_HBM_MEM, bytes, &total);
}

}  // namespace

int main() {
    // 1. Library and device
    Library library;
    Device device;
    CHECK_RET(library.Start());
    CHECK_RET(device.Open(0));
    size_t freeAtFirst = 0;
    CHECK_RET(FreeBytes(&freeAtFirst));

    // 2. All rows at once, or as many as there is room for
    Problem problem = {RandomValues(ROWS * COLUMNS, -1.0F, 1.0F, 111), RandomValues(ROWS * COLUMNS, -1.0F, 1.0F, 112),
                       RandomValues(ROWS * COLUMNS, -1.0F, 1.0F, 113), std::vector<float>(ROWS * COLUMNS)};
    size_t batch = ROWS;
    int retries = 0;
    int status = ACL_SUCCESS;
    {
        ReplaceableStream stream;
        for (size_t first = 0; first < ROWS;) {
            const size_t count = std::min(batch, ROWS - first);
            status = RunBatch(&stream, &problem, first, count);
            if (status == ACL_SUCCESS) {
                first += count;
            } else if (!Recover(status, &batch, &retries)) {
                ReportFailure("the batch", status);
                break;
            }
        }
    }

    // 3. Whatever happened, nothing is left on the device
    size_t freeAtLast = 0;
    CHECK_RET(FreeBytes(&freeAtLast));
    LOG_PRINT("left on the device: %zu bytes\n", freeAtFirst - freeAtLast);
    if (status != ACL_SUCCESS || freeAtLast != freeAtFirst) {
        return 1;
    }

    // 4. Compare
    const std::vector<double> gradOut = FromHalf(ToHalf(problem.gradOut));
    std::vector<double> expected(ROWS * COLUMNS);
    for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] = gradOut[i] * SmoothL1Slope(problem.self[i], problem.target[i], BETA);
    }
    return Compare("gradInput", ToDouble(problem.gradInput), expected, FLOAT_TOLERANCE);
}
