// Training steps of a linear layer under cross entropy, its vocabulary split over several devices with one thread each. The forward
// operators leave a maximum and a sum for each row on every device; the threads combine them on the host, and only then know the loss.
// All of it in both modes and both half types, compared with the same step in double precision on the whole vocabulary.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "aclnnop/aclnn_fused_cross_entropy_loss_with_max_sum.h"
#include "aclnnop/aclnn_fused_linear_cross_entropy_loss_grad.h"
#include "aclnnop/aclnn_fused_linear_online_max_sum.h"
#include "aclnnop/aclnn_sub.h"
#include "sample_support.h"

namespace {

const int64_t DEVICES = 4;
const int64_t ROWS = 48;
const int64_t WIDTH = 32;
const int64_t SHARD = 256;  // words on each device
const int64_t VOCABULARY = DEVICES * SHARD;
const int STEPS = 3;
const float LEARNING_RATE = 0.02F;

// Both phases of an operator, and wait for it.
#define RUN(op, stream, ...)                                                        \
    do {                                                                            \
        uint64_t workspaceSize_ = 0;                                                \
        aclOpExecutor* executor_ = nullptr;                                         \
        CHECK_RET(op##GetWorkspaceSize(__VA_ARGS__, &workspaceSize_, &executor_));  \
        DeviceMemory workspace_;                                                    \
        CHECK_RET(workspace_.Allocate(workspaceSize_));                             \
        CHECK_RET(op(workspace_.Address(), workspaceSize_, executor_, stream));     \
        CHECK_RET(aclrtSynchronizeStream(stream));                                  \
    } while (0)

struct HalfType {
    const char* name;
    aclDataType code;
    std::vector<uint16_t> (*encode)(const std::vector<float>&);
    std::vector<double> (*decode)(const std::vector<uint16_t>&);
    double threshold;  // of the mean relative error
};

const HalfType HALF_TYPES[] = {
    {"FLOAT16", ACL_FLOAT16, ToHalf, FromHalf, std::ldexp(1.0, -10)},
    {"BF16", ACL_BF16, ToBfloat16, FromBfloat16, std::ldexp(1.0, -7)},
};
const double FLOAT_THRESHOLD = std::ldexp(1.0, -13);

// Threads wait here for each other, until one of them gives up.
class Meeting {
public:
    explicit Meeting(int64_t members) : members_(members) {}

    bool Wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        const int round = round_;
        if (++present_ == members_) {
            present_ = 0;
            ++round_;
            changed_.notify_all();
        }
        changed_.wait(lock, [&] { return round_ != round || cancelled_; });
        return !cancelled_;
    }

    void Cancel() {
        const std::lock_guard<std::mutex> lock(mutex_);
        cancelled_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    const int64_t members_;
    int64_t present_ = 0;
    int round_ = 0;
    bool cancelled_ = false;
};

// What a device has told the host.
struct Report {
    std::vector<float> logitsMax = std::vector<float>(ROWS);
    std::vector<float> sumExpLogits = std::vector<float>(ROWS);
    std::vector<float> predictedLogits = std::vector<float>(ROWS);
    std::vector<uint8_t> targetMask = std::vector<uint8_t>((ROWS + 7) / 8);
    std::vector<float> loss = std::vector<float>(ROWS);
    std::vector<uint16_t> weight = std::vector<uint16_t>(SHARD * WIDTH);
    std::vector<uint16_t> inputGrad = std::vector<uint16_t>(ROWS * WIDTH);
    std::vector<uint16_t> weightGrad = std::vector<uint16_t>(SHARD * WIDTH);
};

struct Training {
    const HalfType& type;
    bool fast;
    std::vector<uint16_t> input;
    std::vector<uint16_t> weight;  // before the first step
    std::vector<int64_t> target;
    std::vector<Report> reports;
    Meeting meeting;
    double lossBefore = INFINITY;

    // Positive inputs and weights away from zero: gradients then have no elements in which large terms cancel.
    Training(const HalfType& halfType, bool fastMode)
        : type(halfType),
          fast(fastMode),
          input(type.encode(RandomValues(ROWS * WIDTH, 0.25F, 1.0F, 11))),
          reports(DEVICES),
          meeting(DEVICES) {
        std::vector<float> values = RandomValues(VOCABULARY * WIDTH, -0.2F, 0.2F, 12);
        for (float& value : values) {
            value += value < 0 ? -0.1F : 0.1F;
        }
        weight = type.encode(values);
        for (int64_t row = 0; row < ROWS; ++row) {
            target.push_back((row * 277 + 5) % VOCABULARY);
        }
    }
};

// Maximum, sum and target's logit of the whole vocabulary, from those of its parts. Parts are relative to their own maximum.
struct Combined {
    std::vector<float> logitsMax;
    std::vector<float> sumExpLogits;
    std::vector<float> predictedLogits;

    explicit Combined(const std::vector<Report>& reports) {
        for (int64_t row = 0; row < ROWS; ++row) {
            float largest = reports[0].logitsMax[row];
            for (const Report& report : reports) {
                largest = std::max(largest, report.logitsMax[row]);
            }
            double sum = 0.0;
            double predicted = 0.0;
            for (const Report& report : reports) {
                const double below = static_cast<double>(report.logitsMax[row]) - largest;
                sum += report.sumExpLogits[row] * std::exp(below);
                const bool masked = ((report.targetMask[row / 8] >> (row % 8)) & 1) != 0;
                predicted += masked ? 0.0 : report.predictedLogits[row] + below;
            }
            logitsMax.push_back(largest);
            sumExpLogits.push_back(static_cast<float>(sum));
            predictedLogits.push_back(static_cast<float>(predicted));
        }
    }
};

// The same step on the whole vocabulary, in double precision.
struct Unsplit {
    std::vector<double> loss;
    std::vector<double> inputGrad = std::vector<double>(ROWS * WIDTH);
    std::vector<double> weightGrad = std::vector<double>(VOCABULARY * WIDTH);

    Unsplit(const std::vector<double>& input, const std::vector<double>& weight, const std::vector<int64_t>& target) {
        for (int64_t row = 0; row < ROWS; ++row) {
            const double* features = &input[row * WIDTH];
            std::vector<double> slopes(VOCABULARY);
            double sum = 0.0;
            for (int64_t word = 0; word < VOCABULARY; ++word) {
                for (int64_t i = 0; i < WIDTH; ++i) {
                    slopes[word] += features[i] * weight[word * WIDTH + i];
                }
                sum += std::exp(slopes[word]);
            }
            loss.push_back(std::log(sum) - slopes[target[row]]);
            for (int64_t word = 0; word < VOCABULARY; ++word) {
                slopes[word] = std::exp(slopes[word]) / sum - (word == target[row] ? 1.0 : 0.0);
                for (int64_t i = 0; i < WIDTH; ++i) {
                    inputGrad[row * WIDTH + i] += slopes[word] * weight[word * WIDTH + i];
                    weightGrad[word * WIDTH + i] += slopes[word] * features[i];
                }
            }
        }
    }
};

// The error by the accuracy standard, as a share of what it allows: mean below the threshold, none above ten times that.
double ShareOfAllowed(const std::vector<double>& actual, const std::vector<double>& expected, double threshold) {
    double total = 0.0;
    double largest = 0.0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const double error = std::fabs(actual[i] - expected[i]) / (std::fabs(expected[i]) + 1e-7);
        total += error;
        largest = error <= largest ? largest : error;
    }
    return std::max(largest / (10 * threshold), total / static_cast<double>(expected.size()) / threshold);
}

// Compares a step with its model and prints a line of the table; 0 when it agrees and the loss has fallen.
int Check(Training* training, int step) {
    const HalfType& type = training->type;
    std::vector<double> weight;
    std::vector<double> inputGrad(ROWS * WIDTH);
    std::vector<double> weightGrad;
    std::vector<double> losses;
    std::vector<double> expectedLosses;
    for (const Report& report : training->reports) {
        const std::vector<double> words = type.decode(report.weight);
        const std::vector<double> slopes = type.decode(report.weightGrad);
        const std::vector<double> part = type.decode(report.inputGrad);
        weight.insert(weight.end(), words.begin(), words.end());
        weightGrad.insert(weightGrad.end(), slopes.begin(), slopes.end());
        std::transform(part.begin(), part.end(), inputGrad.begin(), inputGrad.begin(), [](double a, double b) { return a + b; });
    }
    const Unsplit expected(type.decode(training->input), weight, training->target);
    for (const Report& report : training->reports) {
        losses.insert(losses.end(), report.loss.begin(), report.loss.end());
        expectedLosses.insert(expectedLosses.end(), expected.loss.begin(), expected.loss.end());
    }
    double loss = 0.0;
    for (float row : training->reports[0].loss) {
        loss += row / static_cast<double>(ROWS);
    }
    const double share = ShareOfAllowed(losses, expectedLosses, FLOAT_THRESHOLD);
    const double inputShare = ShareOfAllowed(inputGrad, expected.inputGrad, type.threshold);
    const double weightShare = ShareOfAllowed(weightGrad, expected.weightGrad, type.threshold);
    const bool fell = loss < training->lossBefore;
    training->lossBefore = loss;
    LOG_PRINT("%-7s  %-13s  %4d  %6.3f  %5.1f %%  %13.1f %%  %14.1f %%\n", type.name, training->fast ? "fast" : "memory-saving", step, loss,
              100 * share, 100 * inputShare, 100 * weightShare);
    if (!(share < 1 && inputShare < 1 && weightShare < 1 && fell)) {
        LOG_PRINT("step %d: expected errors below 100 %% and a loss below that of the step before\n", step);
        return 1;
    }
    return 0;
}

int RunOn(int32_t deviceId, Training* training) {
    // 2. Device and stream of this thread
    Device device;
    Stream stream;
    CHECK_RET(device.Open(deviceId));
    CHECK_RET(stream.Create());

    // 3. Its shard of the weight, and what all devices have alike
    const aclDataType half = training->type.code;
    const int64_t first = deviceId * SHARD;
    Report& report = training->reports[deviceId];
    report.weight.assign(training->weight.begin() + first * WIDTH, training->weight.begin() + (first + SHARD) * WIDTH);
    Tensor input;
    Tensor weight;
    Tensor target;
    Tensor grad;
    CHECK_RET(input.Create(half, {ROWS, WIDTH}, training->input));
    CHECK_RET(weight.Create(half, {SHARD, WIDTH}, report.weight));
    CHECK_RET(target.Create(ACL_INT64, {ROWS}, training->target));
    CHECK_RET(grad.Create(ACL_FLOAT, {ROWS}, std::vector<float>(ROWS, 1.0F)));  // of the sum of all rows' losses
    float rate = LEARNING_RATE;
    const std::unique_ptr<aclScalar, aclnnStatus (*)(const aclScalar*)> learningRate(aclCreateScalar(&rate, ACL_FLOAT), aclDestroyScalar);

    // 4. Outputs; only the fast mode keeps a number for each row and word
    Tensor logitsMaxLocal;
    Tensor sumExpLogitsLocal;
    Tensor predictedLogitsLocal;
    Tensor targetMask;
    Tensor maskedTarget;
    Tensor logits;
    Tensor softmax;
    Tensor loss;
    Tensor inputGrad;
    Tensor weightGrad;
    CHECK_RET(logitsMaxLocal.Create(ACL_FLOAT, {ROWS}, report.logitsMax));
    CHECK_RET(sumExpLogitsLocal.Create(ACL_FLOAT, {ROWS}, report.sumExpLogits));
    CHECK_RET(predictedLogitsLocal.Create(ACL_FLOAT, {ROWS}, report.predictedLogits));
    CHECK_RET(targetMask.Create(ACL_UINT8, {(ROWS + 7) / 8}, report.targetMask));
    CHECK_RET(maskedTarget.Create(ACL_INT64, {ROWS}, training->target));
    if (training->fast) {
        CHECK_RET(logits.Create(half, {ROWS, SHARD}, std::vector<uint16_t>(ROWS * SHARD)));
        CHECK_RET(softmax.Create(ACL_FLOAT, {ROWS, SHARD}, std::vector<float>(ROWS * SHARD)));
    }
    CHECK_RET(loss.Create(ACL_FLOAT, {ROWS}, report.loss));
    CHECK_RET(inputGrad.Create(half, {ROWS, WIDTH}, report.inputGrad));
    CHECK_RET(weightGrad.Create(half, {SHARD, WIDTH}, report.weightGrad));

    int wrong = 0;
    for (int step = 1; step <= STEPS; ++step) {
        // 5. This shard's logits: their maximum, the sum below it, the target's where it is here
        RUN(aclnnFusedLinearOnlineMaxSum, stream.Get(), input.Get(), weight.Get(), target.Get(), first, first + SHARD,
            logitsMaxLocal.Get(), sumExpLogitsLocal.Get(), predictedLogitsLocal.Get(), targetMask.Get(), maskedTarget.Get(), logits.Get());
        CHECK_RET(weight.Memory().Read(&report.weight));
        CHECK_RET(logitsMaxLocal.Memory().Read(&report.logitsMax));
        CHECK_RET(sumExpLogitsLocal.Memory().Read(&report.sumExpLogits));
        CHECK_RET(predictedLogitsLocal.Memory().Read(&report.predictedLogits));
        CHECK_RET(targetMask.Memory().Read(&report.targetMask));

        // 6. When all shards have reported, each device gets the numbers of the whole vocabulary
        if (!training->meeting.Wait()) {
            return 1;
        }
        const Combined combined(training->reports);
        Tensor logitsMax;
        Tensor sumExpLogits;
        Tensor predictedLogits;
        CHECK_RET(logitsMax.Create(ACL_FLOAT, {ROWS}, combined.logitsMax));
        CHECK_RET(sumExpLogits.Create(ACL_FLOAT, {ROWS}, combined.sumExpLogits));
        CHECK_RET(predictedLogits.Create(ACL_FLOAT, {ROWS}, combined.predictedLogits));

        // 7. The loss, and in the fast mode the softmax
        RUN(aclnnFusedCrossEntropyLossWithMaxSum, stream.Get(), logitsMax.Get(), sumExpLogits.Get(), predictedLogits.Get(), 0.0F, nullptr,
            nullptr, logits.Get(), loss.Get(), softmax.Get());

        // 8. Both gradients; that of the input is this shard's part of a sum over all devices
        RUN(aclnnFusedLinearCrossEntropyLossGrad, stream.Get(), grad.Get(), input.Get(), weight.Get(), targetMask.Get(), maskedTarget.Get(),
            0.0F, training->fast ? nullptr : logitsMax.Get(), training->fast ? nullptr : sumExpLogits.Get(), softmax.Get(), inputGrad.Get(),
            weightGrad.Get());

        // 9. Gradient descent, in place
        RUN(aclnnInplaceSub, stream.Get(), weight.Get(), weightGrad.Get(), learningRate.get());
        CHECK_RET(loss.Memory().Read(&report.loss));
        CHECK_RET(inputGrad.Memory().Read(&report.inputGrad));
        CHECK_RET(weightGrad.Memory().Read(&report.weightGrad));

        // 10. Compare, on one thread while the others wait
        if (!training->meeting.Wait()) {
            return 1;
        }
        wrong += deviceId == 0 ? Check(training, step) : 0;
        if (!training->meeting.Wait()) {
            return 1;
        }
    }
    return wrong;
}

}  // namespace

int main() {
    // 1. Library, once for the process
    Library library;
    CHECK_RET(library.Start());

    int wrong = 0;
    LOG_PRINT("%lld words on %lld devices; errors as shares of what the accuracy standard allows\n", static_cast<long long>(VOCABULARY),
              static_cast<long long>(DEVICES));
    LOG_PRINT("type     mode           step    loss    error   input gradient   weight gradient\n");
    for (const HalfType& type : HALF_TYPES) {
        for (bool fast : {true, false}) {
            Training training(type, fast);
            std::vector<int> failed(DEVICES, 1);
            std::vector<std::thread> threads;
            for (int32_t i = 0; i < DEVICES; ++i) {
                threads.emplace_back([&, i] {
                    failed[i] = RunOn(i, &training);
                    if (failed[i] != 0) {
                        training.meeting.Cancel();
                    }
                });
            }
            for (std::thread& thread : threads) {
                thread.join();
            }
            wrong += *std::max_element(failed.begin(), failed.end());
        }
    }
    return wrong == 0 ? 0 : 1;
}
