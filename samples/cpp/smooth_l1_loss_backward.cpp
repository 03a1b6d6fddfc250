// aclnnSmoothL1LossBackward: mean reduction, inputs of two types that broadcast, a FLOAT16 result.
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "sample_support.h"

namespace {

const int64_t ROWS = 6;
const int64_t COLUMNS = 5;
const int64_t REDUCTION_MEAN = 1;
const float BETA = 0.75F;

std::vector<double> Expected(const std::vector<double>& gradOut, const std::vector<double>& self, const std::vector<double>& target) {
    std::vector<double> result;
    for (size_t row = 0; row < gradOut.size(); ++row) {
        for (size_t column = 0; column < target.size(); ++column) {
            const double slope = SmoothL1Slope(self[row * target.size() + column], target[column], BETA);
            result.push_back(gradOut[row] * slope / static_cast<double>(self.size()));
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

    // 2. Inputs and output: a column of FLOAT16, a matrix of FLOAT and a row of FLOAT16
    const std::vector<aclFloat16> gradOutHost = ToHalf(RandomValues(ROWS, 0.5F, 4.0F, 11));
    const std::vector<float> selfHost = RandomValues(ROWS * COLUMNS, -2.0F, 2.0F, 12);
    const std::vector<aclFloat16> targetHost = ToHalf(RandomValues(COLUMNS, -1.0F, 1.0F, 13));
    std::vector<aclFloat16> gradInputHost(ROWS * COLUMNS);
    Tensor gradOut;
    Tensor self;
    Tensor target;
    Tensor gradInput;
    CHECK_RET(gradOut.Create(ACL_FLOAT16, {ROWS, 1}, gradOutHost));
    CHECK_RET(self.Create(ACL_FLOAT, {ROWS, COLUMNS}, selfHost));
    CHECK_RET(target.Create(ACL_FLOAT16, {COLUMNS}, targetHost));
    CHECK_RET(gradInput.Create(ACL_FLOAT16, {ROWS, COLUMNS}, gradInputHost));

    // 3. Phase one: check the arguments, plan, say how much workspace is needed
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut.Get(), self.Get(), target.Get(), REDUCTION_MEAN, BETA, gradInput.Get(),
                                                        &workspaceSize, &executor));

    // 4. Phase two: put the work on the stream
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnSmoothL1LossBackward(workspace.Address(), workspaceSize, executor, stream));

    // 5. Wait, and copy the result back
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(gradInput.Memory().Read(&gradInputHost));

    // 6. Compare; everything is released when it goes out of scope
    return Compare("gradInput", FromHalf(gradInputHost), Expected(FromHalf(gradOutHost), ToDouble(selfHost), FromHalf(targetHost)),
                   HALF_TOLERANCE);
}
