// An output whose size the data decide: how many elements a mask chooses is known after the synchronize.
#include "aclnnop/aclnn_masked_select.h"
#include "sample_support.h"

namespace {

const float UNTOUCHED = -77.0F;

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    aclrtStream stream = session.GetStream();

    // 2. A tensor, a mask for each of its rows, and an output that is large enough for all elements
    const Dims dims = {6, 4};
    const Dims maskDims = {6, 1};
    const Dims largest = {24};
    const std::vector<float> selfHost = RandomValues(ElementCount(dims), -3.0F, 3.0F, 71);
    const std::vector<uint8_t> maskHost = {0, 1, 1, 0, 0, 1};
    std::vector<float> result(ElementCount(largest), UNTOUCHED);
    Tensor self;
    Tensor mask;
    Tensor out;
    CHECK_RET(self.Create(ACL_FLOAT, dims, selfHost));
    CHECK_RET(mask.Create(ACL_BOOL, maskDims, maskHost));
    CHECK_RET(out.Create(ACL_FLOAT, largest, result));

    // 3. Phase one plans for the most there can be
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnMaskedSelectGetWorkspaceSize(self.Get(), mask.Get(), out.Get(), &workspaceSize, &executor));

    // 4. Phase two
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnMaskedSelect(workspace.Address(), workspaceSize, executor, stream));

    // 5. Wait, and ask how much there is
    CHECK_RET(aclrtSynchronizeStream(stream));
    int64_t* shape = nullptr;
    uint64_t rank = 0;
    CHECK_RET(aclGetViewShape(out.Get(), &shape, &rank));
    const size_t count = rank == 1 ? static_cast<size_t>(shape[0]) : 0;
    delete[] shape;
    CHECK_RET(out.Memory().Read(&result));

    // 6. Compare: the chosen rows one behind the other, and nothing written behind them
    std::vector<double> expected;
    for (size_t row = 0; row < maskHost.size(); ++row) {
        if (maskHost[row] != 0) {
            const auto first = selfHost.begin() + static_cast<std::ptrdiff_t>(row * 4);
            expected.insert(expected.end(), first, first + 4);
        }
    }
    if (count != expected.size()) {
        std::printf("out has %zu elements, expected %zu\n", count, expected.size());
        return 1;
    }
    expected.resize(result.size(), UNTOUCHED);
    return Compare("out", ToDouble(result), expected, FLOAT_TOLERANCE);
}
