// Both modes of aclnnFusedLinearCrossEntropyLossGrad, in FLOAT16: given the softmax, and computing it again from two numbers per row.
#include "aclnnop/aclnn_fused_linear_cross_entropy_loss_grad.h"
#include "cross_entropy_problem.h"

namespace {

const int64_t ROWS = 40;
const int64_t WIDTH = 16;
const int64_t VOCABULARY = 300;
const int HALF_BITS = 10;

// What both modes read.
struct Common {
    Tensor grad;
    Tensor input;
    Tensor weight;
    Tensor targetMask;
    Tensor maskedTarget;
};

struct Gradients {
    std::vector<aclFloat16> input;
    std::vector<aclFloat16> weight;
};

// Runs one mode: exactly one of softmax and the other two optional tensors is null.
int Run(const char* mode, const Common& common, const aclTensor* logitsMax, const aclTensor* sumExpLogits, const aclTensor* softmax,
        aclrtStream stream, Gradients* result) {
    Tensor inputGrad;
    Tensor weightGrad;
    CHECK_RET(inputGrad.Create(ACL_FLOAT16, {ROWS, WIDTH}, result->input));
    CHECK_RET(weightGrad.Create(ACL_FLOAT16, {VOCABULARY, WIDTH}, result->weight));
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(
        common.grad.Get(), common.input.Get(), common.weight.Get(), common.targetMask.Get(), common.maskedTarget.Get(), 0.0F, logitsMax,
        sumExpLogits, softmax, inputGrad.Get(), weightGrad.Get(), &workspaceSize, &executor));
    LOG_PRINT("%s: workspace of %llu bytes\n", mode, static_cast<unsigned long long>(workspaceSize));
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnFusedLinearCrossEntropyLossGrad(workspace.Address(), workspaceSize, executor, stream));
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(inputGrad.Memory().Read(&result->input));
    CHECK_RET(weightGrad.Memory().Read(&result->weight));
    return 0;
}

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. What both modes read
    const std::vector<aclFloat16> inputHost = ToHalf(RandomValues(ROWS * WIDTH, -1.0F, 1.0F, 51));
    const std::vector<aclFloat16> weightHost = ToHalf(RandomValues(VOCABULARY * WIDTH, -1.0F, 1.0F, 52));
    const CrossEntropyProblem problem(VOCABULARY, FromHalf(inputHost), FromHalf(weightHost));
    Common common;
    CHECK_RET(common.grad.Create(ACL_FLOAT, {ROWS}, ToFloat(problem.grad)));
    CHECK_RET(common.input.Create(ACL_FLOAT16, {ROWS, WIDTH}, inputHost));
    CHECK_RET(common.weight.Create(ACL_FLOAT16, {VOCABULARY, WIDTH}, weightHost));
    CHECK_RET(common.targetMask.Create(ACL_UINT8, {static_cast<int64_t>(problem.mask.size())}, problem.mask));
    CHECK_RET(common.maskedTarget.Create(ACL_INT64, {ROWS}, problem.target));

    // 3. Fast: a number per row and word stays in device memory after the forward pass
    Gradients fast = {std::vector<aclFloat16>(inputHost.size()), std::vector<aclFloat16>(weightHost.size())};
    Tensor softmax;
    CHECK_RET(softmax.Create(ACL_FLOAT, {ROWS, VOCABULARY}, ToFloat(problem.softmax)));
    CHECK_RET(Run("fast mode", common, nullptr, nullptr, softmax.Get(), stream, &fast));

    // 4. Memory-saving: only two numbers per row stay
    Gradients saving = {std::vector<aclFloat16>(inputHost.size()), std::vector<aclFloat16>(weightHost.size())};
    Tensor logitsMax;
    Tensor sumExpLogits;
    CHECK_RET(logitsMax.Create(ACL_FLOAT, {ROWS}, ToFloat(problem.logitsMax)));
    CHECK_RET(sumExpLogits.Create(ACL_FLOAT, {ROWS}, ToFloat(problem.sumExpLogits)));
    CHECK_RET(Run("memory-saving mode", common, logitsMax.Get(), sumExpLogits.Get(), nullptr, stream, &saving));

    // 5. Compare both with the formula
    const Tolerance inputTolerance = SumTolerance(problem.inputGrad, HALF_BITS);
    const Tolerance weightTolerance = SumTolerance(problem.weightGrad, HALF_BITS);
    return Compare("fast inputGradOut", FromHalf(fast.input), problem.inputGrad, inputTolerance) +
           Compare("fast weightGradOut", FromHalf(fast.weight), problem.weightGrad, weightTolerance) +
           Compare("memory-saving inputGradOut", FromHalf(saving.input), problem.inputGrad, inputTolerance) +
           Compare("memory-saving weightGradOut", FromHalf(saving.weight), problem.weightGrad, weightTolerance);
}
