// aclnnLogSoftmaxBackward along the middle dimension, on the output of a real log softmax.
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "sample_support.h"

namespace {

const int64_t OUTER = 3;
const int64_t LENGTH = 7;
const int64_t INNER = 4;
const int64_t DIM = -2;

// Calls visit(indices) once per row along the middle dimension, with the places of its elements.
template <typename Visit>
void ForEachRow(Visit visit) {
    for (int64_t outer = 0; outer < OUTER; ++outer) {
        for (int64_t inner = 0; inner < INNER; ++inner) {
            std::vector<size_t> places;
            for (int64_t i = 0; i < LENGTH; ++i) {
                places.push_back(static_cast<size_t>((outer * LENGTH + i) * INNER + inner));
            }
            visit(places);
        }
    }
}

std::vector<double> LogSoftmax(const std::vector<double>& logits) {
    std::vector<double> result(logits.size());
    ForEachRow([&](const std::vector<size_t>& row) {
        double sum = 0.0;
        for (size_t place : row) {
            sum += std::exp(logits[place]);
        }
        for (size_t place : row) {
            result[place] = logits[place] - std::log(sum);
        }
    });
    return result;
}

std::vector<double> Expected(const std::vector<double>& gradOutput, const std::vector<double>& output) {
    std::vector<double> result(output.size());
    ForEachRow([&](const std::vector<size_t>& row) {
        double sum = 0.0;
        for (size_t place : row) {
            sum += gradOutput[place];
        }
        for (size_t place : row) {
            result[place] = gradOutput[place] - std::exp(output[place]) * sum;
        }
    });
    return result;
}

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. Inputs and output
    const Dims dims = {OUTER, LENGTH, INNER};
    const std::vector<float> gradOutputHost = RandomValues(ElementCount(dims), -1.0F, 2.0F, 31);
    const std::vector<float> outputHost = ToFloat(LogSoftmax(ToDouble(RandomValues(ElementCount(dims), -3.0F, 3.0F, 32))));
    std::vector<float> outHost(ElementCount(dims));
    Tensor gradOutput;
    Tensor output;
    Tensor out;
    CHECK_RET(gradOutput.Create(ACL_FLOAT, dims, gradOutputHost));
    CHECK_RET(output.Create(ACL_FLOAT, dims, outputHost));
    CHECK_RET(out.Create(ACL_FLOAT, dims, outHost));

    // 3. Phase one
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnLogSoftmaxBackwardGetWorkspaceSize(gradOutput.Get(), output.Get(), DIM, out.Get(), &workspaceSize, &executor));

    // 4. Phase two
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnLogSoftmaxBackward(workspace.Address(), workspaceSize, executor, stream));

    // 5. Wait, and copy the result back
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(out.Memory().Read(&outHost));

    // 6. Compare
    return Compare("out", ToDouble(outHost), Expected(ToDouble(gradOutputHost), ToDouble(outputHost)), FLOAT_TOLERANCE);
}
