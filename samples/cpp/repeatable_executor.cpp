// One plan, several runs: an executor that is made repeatable gets other addresses for every batch.
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "sample_support.h"

namespace {

const int64_t ROWS = 4;
const int64_t LENGTH = 6;
const int64_t DIM = 1;
const size_t BATCHES = 3;

std::vector<double> Expected(const std::vector<float>& gradOutput, const std::vector<float>& output) {
    std::vector<double> result;
    for (size_t row = 0; row < ROWS; ++row) {
        const size_t first = row * LENGTH;
        double sum = 0.0;
        for (size_t i = first; i < first + LENGTH; ++i) {
            sum += gradOutput[i];
        }
        for (size_t i = first; i < first + LENGTH; ++i) {
            result.push_back(gradOutput[i] - std::exp(static_cast<double>(output[i])) * sum);
        }
    }
    return result;
}

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. Tensors for the first batch, and memory alone for every batch
    const Dims dims = {ROWS, LENGTH};
    const std::vector<float> outputHost = RandomValues(ElementCount(dims), -4.0F, 0.0F, 81);
    std::vector<float> outHost(ElementCount(dims));
    Tensor gradOutput;
    Tensor output;
    Tensor out;
    CHECK_RET(gradOutput.Create(ACL_FLOAT, dims, outHost));
    CHECK_RET(output.Create(ACL_FLOAT, dims, outputHost));
    CHECK_RET(out.Create(ACL_FLOAT, dims, outHost));
    std::vector<float> gradHost[BATCHES];
    DeviceMemory gradMemory[BATCHES];
    DeviceMemory outMemory[BATCHES];
    for (size_t batch = 0; batch < BATCHES; ++batch) {
        gradHost[batch] = RandomValues(ElementCount(dims), -2.0F, 2.0F, static_cast<uint32_t>(82 + batch));
        CHECK_RET(gradMemory[batch].AllocateFor(gradHost[batch]));
        CHECK_RET(outMemory[batch].AllocateFor(outHost));
    }

    // 3. Phase one, once; from now on the executor is the program's to destroy
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnLogSoftmaxBackwardGetWorkspaceSize(gradOutput.Get(), output.Get(), DIM, out.Get(), &workspaceSize, &executor));
    CHECK_RET(aclSetAclOpExecutorRepeatable(executor));
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));

    // 4. Phase two for every batch: input 0 is gradOutput, output 0 is out
    for (size_t batch = 0; batch < BATCHES; ++batch) {
        CHECK_RET(aclSetInputTensorAddr(executor, 0, gradOutput.Get(), gradMemory[batch].Address()));
        CHECK_RET(aclSetOutputTensorAddr(executor, 0, out.Get(), outMemory[batch].Address()));
        CHECK_RET(aclnnLogSoftmaxBackward(workspace.Address(), workspaceSize, executor, stream));
    }

    // 5. Wait for all batches
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(aclDestroyAclOpExecutor(executor));

    // 6. Compare each
    int wrong = 0;
    for (size_t batch = 0; batch < BATCHES; ++batch) {
        CHECK_RET(outMemory[batch].Read(&outHost));
        const std::string name = "batch " + std::to_string(batch);
        wrong += Compare(name.c_str(), ToDouble(outHost), Expected(gradHost[batch], outputHost), FLOAT_TOLERANCE);
    }
    return wrong;
}
