// aclnnFusedLinearCrossEntropyLossGrad in its fast mode, in BF16: the softmax of the forward pass is given.
#include "aclnnop/aclnn_fused_linear_cross_entropy_loss_grad.h"
#include "cross_entropy_problem.h"

namespace {

const int64_t ROWS = 22;
const int64_t WIDTH = 32;
const int64_t VOCABULARY = 160;
const int BF16_BITS = 7;

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. Inputs and outputs
    const std::vector<uint16_t> inputHost = ToBfloat16(RandomValues(ROWS * WIDTH, -1.0F, 1.0F, 42));
    const std::vector<uint16_t> weightHost = ToBfloat16(RandomValues(VOCABULARY * WIDTH, -0.8F, 0.8F, 43));
    const CrossEntropyProblem problem(VOCABULARY, FromBfloat16(inputHost), FromBfloat16(weightHost));
    std::vector<uint16_t> inputGradHost(inputHost.size());
    std::vector<uint16_t> weightGradHost(weightHost.size());
    Tensor grad;
    Tensor input;
    Tensor weight;
    Tensor targetMask;
    Tensor maskedTarget;
    Tensor softmax;
    Tensor inputGrad;
    Tensor weightGrad;
    CHECK_RET(grad.Create(ACL_FLOAT, {ROWS}, ToFloat(problem.grad)));
    CHECK_RET(input.Create(ACL_BF16, {ROWS, WIDTH}, inputHost));
    CHECK_RET(weight.Create(ACL_BF16, {VOCABULARY, WIDTH}, weightHost));
    CHECK_RET(targetMask.Create(ACL_UINT8, {static_cast<int64_t>(problem.mask.size())}, problem.mask));
    CHECK_RET(maskedTarget.Create(ACL_INT64, {ROWS}, problem.target));
    CHECK_RET(softmax.Create(ACL_FLOAT, {ROWS, VOCABULARY}, ToFloat(problem.softmax)));
    CHECK_RET(inputGrad.Create(ACL_BF16, {ROWS, WIDTH}, inputGradHost));
    CHECK_RET(weightGrad.Create(ACL_BF16, {VOCABULARY, WIDTH}, weightGradHost));

    // 3. Phase one: with a softmax, the two other optional tensors are not needed
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(grad.Get(), input.Get(), weight.Get(), targetMask.Get(),
                                                                   maskedTarget.Get(), 0.0F, nullptr, nullptr, softmax.Get(),
                                                                   inputGrad.Get(), weightGrad.Get(), &workspaceSize, &executor));

    // 4. Phase two
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnFusedLinearCrossEntropyLossGrad(workspace.Address(), workspaceSize, executor, stream));

    // 5. Wait, and copy the results back
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(inputGrad.Memory().Read(&inputGradHost));
    CHECK_RET(weightGrad.Memory().Read(&weightGradHost));

    // 6. Compare
    const int inputWrong = Compare("inputGradOut", FromBfloat16(inputGradHost), problem.inputGrad,
                                   SumTolerance(problem.inputGrad, BF16_BITS));
    const int weightWrong = Compare("weightGradOut", FromBfloat16(weightGradHost), problem.weightGrad,
                                    SumTolerance(problem.weightGrad, BF16_BITS));
    return inputWrong + weightWrong;
}
