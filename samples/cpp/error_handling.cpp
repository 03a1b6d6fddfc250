// Mistakes on purpose: which code each of them gives, and that aclGetRecentErrMsg says which parameter is to blame.
#include "aclnnop/aclnn_cross_entropy_loss_grad.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "sample_support.h"

namespace {

const int64_t REDUCTION_NONE = 0;
const int64_t NO_SUCH_REDUCTION = 7;

// The sentence of a message, which comes after process, time, kind and number of the error.
std::string Sentence(const std::string& message) {
    const std::string end = "): ";
    const size_t place = message.find(end);
    const size_t first = place == std::string::npos ? 0 : place + end.size();
    return message.substr(first, message.find('\n', first) - first);
}

// Reading the message clears it, so that what is read after the call belongs to the call.
template <typename Call>
int Expect(const char* mistake, int expected, const char* parameter, Call call) {
    aclGetRecentErrMsg();
    const int code = call();
    const char* recent = aclGetRecentErrMsg();
    const std::string sentence = Sentence(recent == nullptr ? "" : recent);
    const bool named = sentence.find(parameter) != std::string::npos;
    LOG_PRINT("%s: %d, the message %s %s\n    %s\n", mistake, code, named ? "names" : "DOES NOT NAME", parameter, sentence.c_str());
    return code == expected && named ? 0 : 1;
}

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. Tensors, good and bad
    const std::vector<float> values = RandomValues(6, -1.0F, 1.0F, 101);
    Tensor good;
    Tensor integers;
    Tensor otherShape;
    Tensor out;
    CHECK_RET(good.Create(ACL_FLOAT, {2, 3}, values));
    CHECK_RET(integers.Create(ACL_INT32, {2, 3}, std::vector<int32_t>(6)));
    CHECK_RET(otherShape.Create(ACL_FLOAT, {3, 2}, values));
    CHECK_RET(out.Create(ACL_FLOAT, {2, 3}, values));

    // 3. Mistakes that phase one finds
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    const auto smoothL1 = [&](const Tensor& self, const aclTensor* target, int64_t reduction, float beta, const Tensor& gradInput) {
        return aclnnSmoothL1LossBackwardGetWorkspaceSize(good.Get(), self.Get(), target, reduction, beta, gradInput.Get(), &workspaceSize,
                                                         &executor);
    };
    int wrong = 0;
    wrong += Expect("target is null", ACLNN_ERR_PARAM_NULLPTR, "target",
                    [&] { return smoothL1(good, nullptr, REDUCTION_NONE, 1.0F, out); });
    wrong += Expect("self has a type that is not supported", ACLNN_ERR_PARAM_INVALID, "self",
                    [&] { return smoothL1(integers, good.Get(), REDUCTION_NONE, 1.0F, out); });
    wrong += Expect("gradInput has another shape", ACLNN_ERR_PARAM_INVALID, "gradInput",
                    [&] { return smoothL1(good, good.Get(), REDUCTION_NONE, 1.0F, otherShape); });
    wrong += Expect("no such reduction", ACLNN_ERR_PARAM_INVALID, "reduction",
                    [&] { return smoothL1(good, good.Get(), NO_SUCH_REDUCTION, 1.0F, out); });
    wrong += Expect("beta is negative", ACLNN_ERR_PARAM_INVALID, "beta",
                    [&] { return smoothL1(good, good.Get(), REDUCTION_NONE, -1.0F, out); });
    wrong += Expect("dim is one too large", ACLNN_ERR_PARAM_INVALID, "dim", [&] {
        return aclnnLogSoftmaxBackwardGetWorkspaceSize(good.Get(), good.Get(), 2, out.Get(), &workspaceSize, &executor);
    });

    // 4. Mistakes that phase two finds: the cast to FLOAT16 needs workspace
    Tensor half;
    CHECK_RET(half.Create(ACL_FLOAT16, {2, 3}, ToHalf(values)));
    CHECK_RET(aclnnLogSoftmaxBackwardGetWorkspaceSize(good.Get(), good.Get(), 1, half.Get(), &workspaceSize, &executor));
    wrong += Expect("workspace is null", ACLNN_ERR_PARAM_NULLPTR, "workspace",
                    [&] { return aclnnLogSoftmaxBackward(nullptr, workspaceSize, executor, stream); });
    DeviceMemory workspace;
    CHECK_RET(smoothL1(good, good.Get(), REDUCTION_NONE, 1.0F, out));
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnSmoothL1LossBackward(workspace.Address(), workspaceSize, executor, stream));
    wrong += Expect("executor is used a second time", ACLNN_ERR_INNER, "executor",
                    [&] { return aclnnSmoothL1LossBackward(workspace.Address(), workspaceSize, executor, stream); });

    // 5. A mistake that only the device can find: the call is accepted, the wait reports it
    Tensor one;
    Tensor logProb;
    Tensor target;
    Tensor slopes;
    char reduction[] = "sum";
    CHECK_RET(one.Create(ACL_FLOAT, {1}, std::vector<float>(1, 1.0F)));
    CHECK_RET(logProb.Create(ACL_FLOAT, {2, 3}, values));
    CHECK_RET(target.Create(ACL_INT64, {2}, std::vector<int64_t>{1, 3}));
    CHECK_RET(slopes.Create(ACL_FLOAT, {2, 3}, values));
    CHECK_RET(aclnnCrossEntropyLossGradGetWorkspaceSize(one.Get(), logProb.Get(), target.Get(), nullptr, nullptr, nullptr, reduction,
                                                        -100, 0.0, 0.0, slopes.Get(), &workspaceSize, &executor));
    DeviceMemory lossWorkspace;
    CHECK_RET(lossWorkspace.Allocate(workspaceSize));
    CHECK_RET(aclnnCrossEntropyLossGrad(lossWorkspace.Address(), workspaceSize, executor, stream));
    wrong += Expect("a target is not a class", ACL_ERROR_RT_AICORE_EXCEPTION, "target",
                    [&] { return aclrtSynchronizeStream(stream); });

    // 6. A mistake in the runtime's own calls, and a stream that is fine again
    void* nothing = nullptr;
    wrong += Expect("size is 0", ACL_ERROR_INVALID_PARAM, "size", [&] { return aclrtMalloc(&nothing, 0, ACL_MEM_MALLOC_HUGE_FIRST); });
    CHECK_RET(aclrtSynchronizeStream(stream));
    LOG_PRINT("mistakes that were not reported as they should be: %d\n", wrong);
    return wrong;
}
