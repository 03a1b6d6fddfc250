// Tensors that are views: a transposed window, every second element, one number shown as a matrix, and an output with gaps.
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "sample_support.h"

namespace {

const int64_t REDUCTION_NONE = 0;
const float BETA = 1.5F;
const float GAP = -77.0F;

struct View {
    Dims dims;
    Dims strides;
    int64_t offset;
    Dims storageDims;

    size_t Place(int64_t row, int64_t column) const { return static_cast<size_t>(offset + row * strides[0] + column * strides[1]); }
};

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. Four views of three rows and four columns
    const Dims dims = {3, 4};
    const View everywhereTheSame = {dims, {0, 0}, 0, {1}};
    const View transposedWindow = {dims, {1, 8}, 10, {6, 8}};
    const View everySecond = {dims, {10, 2}, 1, {3, 10}};
    const View gappedOutput = {dims, {9, 2}, 2, {3, 9}};
    const std::vector<float> gradOutHost = {2.5F};
    const std::vector<float> selfHost = RandomValues(ElementCount(transposedWindow.storageDims), -3.0F, 3.0F, 61);
    const std::vector<float> targetHost = RandomValues(ElementCount(everySecond.storageDims), -1.0F, 1.0F, 62);
    std::vector<float> storage(ElementCount(gappedOutput.storageDims), GAP);
    Tensor gradOut;
    Tensor self;
    Tensor target;
    Tensor gradInput;
    const auto create = [](Tensor* tensor, const View& view, const std::vector<float>& values) {
        return tensor->CreateView(ACL_FLOAT, view.dims, view.strides, view.offset, view.storageDims, values);
    };
    CHECK_RET(create(&gradOut, everywhereTheSame, gradOutHost));
    CHECK_RET(create(&self, transposedWindow, selfHost));
    CHECK_RET(create(&target, everySecond, targetHost));
    CHECK_RET(create(&gradInput, gappedOutput, storage));

    // 3. Phase one
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut.Get(), self.Get(), target.Get(), REDUCTION_NONE, BETA, gradInput.Get(),
                                                        &workspaceSize, &executor));

    // 4. Phase two
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnSmoothL1LossBackward(workspace.Address(), workspaceSize, executor, stream));

    // 5. Wait, and copy the whole storage of the output back
    CHECK_RET(aclrtSynchronizeStream(stream));
    CHECK_RET(gradInput.Memory().Read(&storage));

    // 6. Compare: the elements of the view have changed, the gaps between them have not
    std::vector<double> expected(storage.size(), GAP);
    for (int64_t row = 0; row < dims[0]; ++row) {
        for (int64_t column = 0; column < dims[1]; ++column) {
            const double selfValue = selfHost[transposedWindow.Place(row, column)];
            const double targetValue = targetHost[everySecond.Place(row, column)];
            expected[gappedOutput.Place(row, column)] = SmoothL1Slope(selfValue, targetValue, BETA) * gradOutHost[0];
        }
    }
    return Compare("storage of gradInput", ToDouble(storage), expected, FLOAT_TOLERANCE);
}
