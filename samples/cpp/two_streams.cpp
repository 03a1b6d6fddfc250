// Two streams and an event: one stream makes what the other needs, and is slow. Without the event the second one would not wait.
#include <chrono>
#include <thread>

#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "sample_support.h"

namespace {

const int64_t COUNT = 1000;
const int64_t REDUCTION_NONE = 0;
const float BETA = 1.0F;

class Event {
public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() {
        if (event_ != nullptr) {
            aclrtDestroyEvent(event_);
        }
    }
    aclError Create() { return aclrtCreateEvent(&event_); }
    aclrtEvent Get() const { return event_; }

private:
    aclrtEvent event_ = nullptr;
};

void TakeTime(void*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

// Queues gradInput = gradOut * slope(self - target); the workspace has to live until the stream is done.
int Queue(const Tensor& gradOut, const Tensor& self, const Tensor& target, const Tensor& gradInput, DeviceMemory* workspace,
          aclrtStream stream) {
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_RET(aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut.Get(), self.Get(), target.Get(), REDUCTION_NONE, BETA, gradInput.Get(),
                                                        &workspaceSize, &executor));
    CHECK_RET(workspace->Allocate(workspaceSize));
    CHECK_RET(aclnnSmoothL1LossBackward(workspace->Address(), workspaceSize, executor, stream));
    return 0;
}

}  // namespace

int main() {
    // 1. Library, device, two streams, an event
    Library library;
    Device device;
    Stream producer;
    Stream consumer;
    Event ready;
    CHECK_RET(library.Start());
    CHECK_RET(device.Open(0));
    CHECK_RET(producer.Create());
    CHECK_RET(consumer.Create());
    CHECK_RET(ready.Create());

    // 2. Inputs, the tensor that is handed over, and the output
    const std::vector<float> gradOutHost = RandomValues(COUNT, 1.0F, 3.0F, 71);
    const std::vector<float> selfHost = RandomValues(COUNT, -2.0F, 2.0F, 72);
    const std::vector<float> targetHost = RandomValues(COUNT, -2.0F, 2.0F, 73);
    std::vector<float> resultHost(COUNT);
    Tensor gradOut;
    Tensor self;
    Tensor target;
    Tensor handedOver;
    Tensor result;
    CHECK_RET(gradOut.Create(ACL_FLOAT, {COUNT}, gradOutHost));
    CHECK_RET(self.Create(ACL_FLOAT, {COUNT}, selfHost));
    CHECK_RET(target.Create(ACL_FLOAT, {COUNT}, targetHost));
    CHECK_RET(handedOver.Create(ACL_FLOAT, {COUNT}, resultHost));
    CHECK_RET(result.Create(ACL_FLOAT, {COUNT}, resultHost));

    // 3. First stream: take time, compute, record the event
    DeviceMemory producerWorkspace;
    CHECK_RET(aclrtLaunchHostFunc(producer.Get(), TakeTime, nullptr));
    CHECK_RET(Queue(gradOut, self, target, handedOver, &producerWorkspace, producer.Get()));
    CHECK_RET(aclrtRecordEvent(ready.Get(), producer.Get()));

    // 4. Second stream: wait for the event, go on with what was computed
    DeviceMemory consumerWorkspace;
    CHECK_RET(aclrtStreamWaitEvent(consumer.Get(), ready.Get()));
    CHECK_RET(Queue(handedOver, self, target, result, &consumerWorkspace, consumer.Get()));

    // 5. Wait for the second stream alone, and copy the result back
    CHECK_RET(aclrtSynchronizeStream(consumer.Get()));
    CHECK_RET(result.Memory().Read(&resultHost));

    // 6. Compare: the slope went in twice
    std::vector<double> expected;
    for (size_t i = 0; i < resultHost.size(); ++i) {
        const double slope = SmoothL1Slope(selfHost[i], targetHost[i], BETA);
        expected.push_back(gradOutHost[i] * slope * slope);
    }
    return Compare("result of both streams", ToDouble(resultHost), expected, FLOAT_TOLERANCE);
}
