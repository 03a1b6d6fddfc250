// One thread per device: each thread chooses its own device, and has its own stream and data.
#include <thread>

#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "sample_support.h"

namespace {

const uint32_t DEVICES = 4;
const int64_t COUNT = 500;
const int64_t REDUCTION_SUM = 2;
const float BETA = 0.5F;

int RunOn(int32_t deviceId, std::vector<float>* gradInputHost, std::vector<double>* expected) {
    // 2. Device and stream of this thread; a context is current for the thread that set it, no other
    Device device;
    Stream stream;
    CHECK_RET(device.Open(deviceId));
    CHECK_RET(stream.Create());

    // 3. Data of this thread
    const uint32_t seed = 91 + 10 * static_cast<uint32_t>(deviceId);
    const std::vector<float> gradOutHost = {1.0F + static_cast<float>(deviceId)};
    const std::vector<float> selfHost = RandomValues(COUNT, -1.0F, 1.0F, seed);
    const std::vector<float> targetHost = RandomValues(COUNT, -1.0F, 1.0F, seed + 1);
    Tensor gradOut;
    Tensor self;
    Tensor target;
    Tensor gradInput;
    CHECK_RET(gradOut.Create(ACL_FLOAT, {1}, gradOutHost));
    CHECK_RET(self.Create(ACL_FLOAT, {COUNT}, selfHost));
    CHECK_RET(target.Create(ACL_FLOAT, {COUNT}, targetHost));
    CHECK_RET(gradInput.Create(ACL_FLOAT, {COUNT}, *gradInputHost));

    // 4. Both phases, wait, copy back
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut.Get(), self.Get(), target.Get(), REDUCTION_SUM, BETA, gradInput.Get(),
                                                        &workspaceSize, &executor));
    DeviceMemory workspace;
    CHECK_RET(workspace.Allocate(workspaceSize));
    CHECK_RET(aclnnSmoothL1LossBackward(workspace.Address(), workspaceSize, executor, stream.Get()));
    CHECK_RET(aclrtSynchronizeStream(stream.Get()));
    CHECK_RET(gradInput.Memory().Read(gradInputHost));

    for (size_t i = 0; i < selfHost.size(); ++i) {
        expected->push_back(gradOutHost[0] * SmoothL1Slope(selfHost[i], targetHost[i], BETA));
    }
    return 0;
}

}  // namespace

int main() {
    // 1. Library, once for the process
    Library library;
    CHECK_RET(library.Start());
    uint32_t count = 0;
    CHECK_RET(aclrtGetDeviceCount(&count));
    count = std::min(count, DEVICES);

    std::vector<int> failed(count, 1);
    std::vector<std::vector<float>> results(count, std::vector<float>(COUNT));
    std::vector<std::vector<double>> expected(count);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] { failed[i] = RunOn(static_cast<int32_t>(i), &results[i], &expected[i]); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }

    // 5. Compare
    int wrong = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const std::string name = "device " + std::to_string(i);
        wrong += failed[i] != 0 ? 1 : Compare(name.c_str(), ToDouble(results[i]), expected[i], FLOAT_TOLERANCE);
    }
    return wrong;
}
