// aclnnNLLLoss2dBackward: weighted mean over two small images, with pixels that are not counted.
#include "aclnnop/aclnn_nll_loss2d_backward.h"
#include "sample_support.h"

namespace {

const int64_t BATCH = 2;
const int64_t CLASSES = 4;
const int64_t HEIGHT = 3;
const int64_t WIDTH = 3;
const int64_t PIXELS = HEIGHT * WIDTH;
const int64_t REDUCTION_MEAN = 1;
const int64_t IGNORED = -100;

std::vector<double> Expected(double gradOutput, const std::vector<int64_t>& target, const std::vector<double>& weight, double totalWeight) {
    std::vector<double> result(BATCH * CLASSES * PIXELS, 0.0);
    for (int64_t image = 0; image < BATCH; ++image) {
        for (int64_t pixel = 0; pixel < PIXELS; ++pixel) {
            const int64_t label = target[image * PIXELS + pixel];
            if (label != IGNORED) {
                result[(image * CLASSES + label) * PIXELS + pixel] = -weight[label] * gradOutput / totalWeight;
            }
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

    // 2. Inputs and output; totalWeight is what the forward pass adds up: the weights of the pixels that count
    const std::vector<float> gradOutputHost = {1.75F};
    const std::vector<float> selfHost = RandomValues(BATCH * CLASSES * PIXELS, -4.0F, 0.0F, 21);
    const std::vector<int64_t> targetHost = {0, 3, 1, IGNORED, 2, 2, 1, 0, 3, 3, 3, IGNORED, 0, 1, 2, IGNORED, 1, 1};
    const std::vector<float> weightHost = {0.5F, 1.25F, 2.0F, 0.3F};
    float total = 0.0F;
    for (int64_t label : targetHost) {
        total += label == IGNORED ? 0.0F : weightHost[static_cast<size_t>(label)];
    }
    const std::vector<float> totalWeightHost = {total};
    std::vector<float> outHost(selfHost.size(), -1.0F);
    const Dims images = {BATCH, CLASSES, HEIGHT, WIDTH};
    Tensor gradOutput;
    Tensor self;
    Tensor target;
    Tensor weight;
    Tensor totalWeight;
    Tensor out;
    CHECK_RET(gradOutput.Create(ACL_FLOAT, {1}, gradOutputHost));
    CHECK_RET(self.Create(ACL_FLOAT, images, selfHost));
    CHECK_RET(target.Create(ACL_INT64, {BATCH, HEIGHT, WIDTH}, targetHost));
    CHECK_RET(weight.Create(ACL_FLOAT, {CLASSES}, weightHost));
    CHECK_RET(totalWeight.Create(ACL_FLOAT, {1}, totalWeightHost));
    CHECK_RET(out.Create(ACL_FLOAT, images, outHost));

    // 3. Phase one
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnNLLLoss2dBackwardGetWorkspaceSize(gradOutput.Get(), self.Get(), target.Get(), weight.Get(), REDUCTION_MEAN, IGNORED,
                                                     totalWeight.Get(), out.Get(), &workspaceSize, &executor));

    // 4. Phase two
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnNLLLoss2dBackward(workspace.Address(), workspaceSize, executor, stream));

    // 5. Wait, and copy the result back
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(out.Memory().Read(&outHost));

    // 6. Compare
    return Compare("out", ToDouble(outHost), Expected(gradOutputHost[0], targetHost, ToDouble(weightHost), total), FLOAT_TOLERANCE);
}
