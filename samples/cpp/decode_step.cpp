// A layer of a language model that generates: norms, products with INT8 weights, rotary embedding, attention over a paged
// cache, and a gated unit. Two sequences of different lengths take four steps; on the way one of them begins a new page.
#include <functional>
#include <list>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "aclnnop/aclnn_swi_glu.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v2.h"
#include "sample_support.h"

namespace {

const int64_t BATCH = 2;
const int64_t HIDDEN = 128;
const int64_t HEADS = 4;
const int64_t KEY_HEADS = 2;
const int64_t HEAD = 32;
const int64_t INNER = 192;
const int64_t QUERY = HEADS * HEAD;
const int64_t KEY = KEY_HEADS * HEAD;
const int64_t PAGE = 16;
const int64_t PAGES = 8;
const int64_t PAGES_OF_SEQUENCE = 4;
const int64_t ALL_TOKENS = 2147483647;
const int STEPS = 4;
const double EPSILON = 1e-6;
const double SCALE = 1.0 / std::sqrt(static_cast<double>(HEAD));
const Tolerance TOLERANCE = {std::ldexp(1.0, -8), 4e-3};

typedef std::vector<double> Row;

// What FLOAT16 makes of numbers: every operator stores its result so.
Row AsHalf(const Row& values) { return FromHalf(ToHalf(ToFloat(values))); }

// A weight of INT8 with a scale for each column, on the device and as the numbers that it stands for.
struct Weight {
    Tensor numbers;
    Tensor scales;
    Row values;
    int64_t rows = 0;
    int64_t columns = 0;

    aclError Create(int64_t rowCount, int64_t columnCount, uint32_t seed) {
        rows = rowCount;
        columns = columnCount;
        const Dims dims = {rows, columns};
        std::vector<int8_t> stored;
        for (float value : RandomValues(ElementCount(dims), -127.0F, 127.0F, seed)) {
            stored.push_back(static_cast<int8_t>(value));
        }
        const std::vector<aclFloat16> scale = ToHalf(RandomValues(static_cast<size_t>(columns), 0.0005F, 0.0015F, seed + 1));
        const Row exact = FromHalf(scale);
        for (size_t i = 0; i < stored.size(); ++i) {
            values.push_back(stored[i] * exact[i % static_cast<size_t>(columns)]);
        }
        const aclError status = numbers.Create(ACL_INT8, dims, stored);
        return status == ACL_SUCCESS ? scales.Create(ACL_FLOAT16, {columns}, scale) : status;
    }

    Row Times(const Row& x) const {
        Row y(static_cast<size_t>(columns), 0.0);
        for (int64_t row = 0; row < rows; ++row) {
            for (int64_t column = 0; column < columns; ++column) {
                y[static_cast<size_t>(column)] += x[static_cast<size_t>(row)] * values[static_cast<size_t>(row * columns + column)];
            }
        }
        return AsHalf(y);
    }
};

// The formulas, for one sequence.

Row RmsNorm(const Row& x, const Row& gamma) {
    double squares = 0.0;
    for (double value : x) {
        squares += value * value;
    }
    const double root = std::sqrt(squares / static_cast<double>(x.size()) + EPSILON);
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        y[i] = x[i] / root * gamma[i];
    }
    return AsHalf(y);
}

// Elements of the first half of a head are turned together with those of the second.
Row Rotary(const Row& x, const Row& cosine, const Row& sine) {
    Row y(x.size());
    const size_t width = static_cast<size_t>(HEAD);
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t place = i % width;
        const double partner = place < width / 2 ? -x[i + width / 2] : x[i - width / 2];
        y[i] = x[i] * cosine[place] + partner * sine[place];
    }
    return AsHalf(y);
}

Row Attention(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values) {
    Row out(static_cast<size_t>(QUERY), 0.0);
    for (int64_t head = 0; head < HEADS; ++head) {
        const int64_t shared = head / (HEADS / KEY_HEADS) * HEAD;
        Row weights;
        double largest = -INFINITY;
        for (const Row& key : keys) {
            double score = 0.0;
            for (int64_t i = 0; i < HEAD; ++i) {
                score += query[static_cast<size_t>(head * HEAD + i)] * key[static_cast<size_t>(shared + i)];
            }
            weights.push_back(score * SCALE);
            largest = std::max(largest, score * SCALE);
        }
        double total = 0.0;
        for (double& weight : weights) {
            weight = std::exp(weight - largest);
            total += weight;
        }
        for (size_t position = 0; position < values.size(); ++position) {
            for (int64_t i = 0; i < HEAD; ++i) {
                out[static_cast<size_t>(head * HEAD + i)] += weights[position] / total * values[position][static_cast<size_t>(shared + i)];
            }
        }
    }
    return AsHalf(out);
}

Row SwiGlu(const Row& x) {
    const size_t half = x.size() / 2;
    Row y(half);
    for (size_t i = 0; i < half; ++i) {
        y[i] = x[i] / (1.0 + std::exp(-x[i])) * x[half + i];
    }
    return AsHalf(y);
}

Row Sum(const Row& first, const Row& second) {
    Row sum(first.size());
    for (size_t i = 0; i < first.size(); ++i) {
        sum[i] = first[i] + second[i];
    }
    return AsHalf(sum);
}

Row Part(const Row& values, int64_t first, int64_t count) { return Row(values.begin() + first, values.begin() + first + count); }

// Runs both phases of an operator; workspaces stay until the stream has finished.
class Queue {
public:
    explicit Queue(aclrtStream stream) : stream_(stream) {}

    typedef std::function<int(uint64_t*, aclOpExecutor**)> PhaseOne;
    typedef aclnnStatus (*PhaseTwo)(void*, uint64_t, aclOpExecutor*, aclrtStream);

    int Run(const PhaseOne& plan, PhaseTwo run) {
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        const int status = plan(&bytes, &executor);
        if (status != ACL_SUCCESS) {
            return status;
        }
        workspaces_.emplace_back();
        const aclError allocated = workspaces_.back().Allocate(bytes);
        return allocated != ACL_SUCCESS ? allocated : run(workspaces_.back().Address(), bytes, executor, stream_);
    }

    int Product(const aclTensor* x, const Weight& weight, const aclTensor* y) {
        return Run(
            [&](uint64_t* bytes, aclOpExecutor** executor) {
                return aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(x, weight.numbers.Get(), weight.scales.Get(), nullptr, nullptr,
                                                                     nullptr, nullptr, 0, y, bytes, executor);
            },
            aclnnWeightQuantBatchMatmulV2);
    }

    int Norm(const aclTensor* x, const aclTensor* gamma, aclTensor* y, aclTensor* rstd) {
        return Run(
            [&](uint64_t* bytes, aclOpExecutor** executor) {
                return aclnnRmsNormGetWorkspaceSize(x, gamma, EPSILON, y, rstd, bytes, executor);
            },
            aclnnRmsNorm);
    }

    int Turn(const aclTensor* x, const aclTensor* cosine, const aclTensor* sine, aclTensor* out) {
        return Run(
            [&](uint64_t* bytes, aclOpExecutor** executor) {
                return aclnnRotaryPositionEmbeddingGetWorkspaceSize(x, cosine, sine, 0, out, bytes, executor);
            },
            aclnnRotaryPositionEmbedding);
    }

    int Add(const aclTensor* first, const aclTensor* second, const aclScalar* one, aclTensor* out) {
        return Run(
            [&](uint64_t* bytes, aclOpExecutor** executor) {
                return aclnnAddGetWorkspaceSize(first, second, one, out, bytes, executor);
            },
            aclnnAdd);
    }

    int Gate(const aclTensor* x, const aclTensor* out) {
        return Run([&](uint64_t* bytes, aclOpExecutor** executor) { return aclnnSwiGluGetWorkspaceSize(x, -1, out, bytes, executor); },
                   aclnnSwiGlu);
    }

    int Wait() {
        const aclError status = aclrtSynchronizeStream(stream_);
        workspaces_.clear();
        return status;
    }

private:
    aclrtStream stream_;
    std::list<DeviceMemory> workspaces_;
};

// A view of memory that another tensor owns.
class Window {
public:
    Window(const Tensor& owner, const Dims& dims, const Dims& strides, int64_t offset, const Dims& storage)
        : tensor_(aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT16, strides.data(), offset, ACL_FORMAT_ND, storage.data(),
                                  storage.size(), owner.Memory().Address())) {}
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window() { aclDestroyTensor(tensor_); }
    aclTensor* Get() const { return tensor_; }

private:
    aclTensor* tensor_;
};

std::vector<aclFloat16> HalfZeros(const Dims& dims) { return std::vector<aclFloat16>(ElementCount(dims), 0); }

aclError CreateHalf(Tensor* tensor, const Dims& dims) { return tensor->Create(ACL_FLOAT16, dims, HalfZeros(dims)); }

char* Place(const Tensor& tensor, int64_t element) {
    return static_cast<char*>(tensor.Memory().Address()) + static_cast<size_t>(element) * sizeof(aclFloat16);
}

}  // namespace

int main() {
    // 1. Library, device, stream
    Session session;
    CHECK_RET(session.Open(0));
    Queue queue(session.GetStream());

    // 2. Weights, and a cache whose pages are handed out in no particular order; 15 and 37 positions are there already
    Weight toQueryKeyValue;
    Weight toOutput;
    Weight toInner;
    Weight toHidden;
    const int64_t columns = QUERY + 2 * KEY;
    CHECK_RET(toQueryKeyValue.Create(HIDDEN, columns, 11));
    CHECK_RET(toOutput.Create(QUERY, HIDDEN, 21));
    CHECK_RET(toInner.Create(HIDDEN, 2 * INNER, 31));
    CHECK_RET(toHidden.Create(INNER, HIDDEN, 41));
    const std::vector<aclFloat16> gammaHost = ToHalf(RandomValues(static_cast<size_t>(HIDDEN), 0.5F, 1.5F, 51));
    const Row gammaRow = FromHalf(gammaHost);
    Tensor gamma;
    CHECK_RET(gamma.Create(ACL_FLOAT16, {HIDDEN}, gammaHost));
    const std::vector<int32_t> table = {5, 0, 7, 1, 3, 6, 2, 4};
    std::vector<int64_t> lengths = {15, 37};
    const Dims pages = {PAGES, PAGE, KEY};
    const std::vector<aclFloat16> keyHost = ToHalf(RandomValues(ElementCount(pages), -1.0F, 1.0F, 61));
    const std::vector<aclFloat16> valueHost = ToHalf(RandomValues(ElementCount(pages), -1.0F, 1.0F, 62));
    Tensor keyCache;
    Tensor valueCache;
    Tensor blockTable;
    CHECK_RET(keyCache.Create(ACL_FLOAT16, pages, keyHost));
    CHECK_RET(valueCache.Create(ACL_FLOAT16, pages, valueHost));
    CHECK_RET(blockTable.Create(ACL_INT32, {BATCH, PAGES_OF_SEQUENCE}, table));
    const auto slot = [&](int64_t sequence, int64_t position) {
        return (table[static_cast<size_t>(sequence * PAGES_OF_SEQUENCE + position / PAGE)] * PAGE + position % PAGE) * KEY;
    };
    std::vector<std::vector<Row>> keys(BATCH);
    std::vector<std::vector<Row>> values(BATCH);
    const Row keyRows = FromHalf(keyHost);
    const Row valueRows = FromHalf(valueHost);
    for (int64_t sequence = 0; sequence < BATCH; ++sequence) {
        for (int64_t position = 0; position < lengths[static_cast<size_t>(sequence)]; ++position) {
            keys[static_cast<size_t>(sequence)].push_back(Part(keyRows, slot(sequence, position), KEY));
            values[static_cast<size_t>(sequence)].push_back(Part(valueRows, slot(sequence, position), KEY));
        }
    }

    // 3. What one step computes; x is both its input and its output
    const std::vector<float> start = RandomValues(static_cast<size_t>(BATCH * HIDDEN), -1.0F, 1.0F, 71);
    Tensor x;
    Tensor normed;
    Tensor rstd;
    Tensor queryKeyValue;
    Tensor query;
    Tensor key;
    Tensor attended;
    Tensor projected;
    Tensor inner;
    Tensor gated;
    CHECK_RET(x.Create(ACL_FLOAT16, {BATCH, HIDDEN}, ToHalf(start)));
    CHECK_RET(CreateHalf(&normed, {BATCH, HIDDEN}));
    CHECK_RET(rstd.Create(ACL_FLOAT, {BATCH, 1}, std::vector<float>(static_cast<size_t>(BATCH))));
    CHECK_RET(CreateHalf(&queryKeyValue, {BATCH, columns}));
    CHECK_RET(CreateHalf(&query, {BATCH, 1, HEADS, HEAD}));
    CHECK_RET(CreateHalf(&key, {BATCH, 1, KEY_HEADS, HEAD}));
    CHECK_RET(CreateHalf(&attended, {BATCH, QUERY}));
    CHECK_RET(CreateHalf(&projected, {BATCH, HIDDEN}));
    CHECK_RET(CreateHalf(&inner, {BATCH, 2 * INNER}));
    CHECK_RET(CreateHalf(&gated, {BATCH, INNER}));
    const Dims together = {BATCH, columns};
    const Window plainQuery(queryKeyValue, {BATCH, 1, HEADS, HEAD}, {columns, columns, HEAD, 1}, 0, together);
    const Window plainKey(queryKeyValue, {BATCH, 1, KEY_HEADS, HEAD}, {columns, columns, HEAD, 1}, QUERY, together);
    const Window queryRows(query, {BATCH, 1, QUERY}, {QUERY, QUERY, 1}, 0, {BATCH, 1, HEADS, HEAD});
    const Window attendedRows(attended, {BATCH, 1, QUERY}, {QUERY, QUERY, 1}, 0, {BATCH, QUERY});
    float oneValue = 1.0F;
    aclScalar* one = aclCreateScalar(&oneValue, ACL_FLOAT);
    int wrong = 0;
    for (int step = 0; step < STEPS; ++step) {
        std::vector<aclFloat16> before(static_cast<size_t>(BATCH * HIDDEN));
        CHECK_RET(x.Memory().Read(&before));

        // 4. The angles of the next position of each sequence
        std::vector<float> cosineHost;
        std::vector<float> sineHost;
        for (int64_t sequence = 0; sequence < BATCH; ++sequence) {
            for (int64_t i = 0; i < HEAD; ++i) {
                const double frequency = std::pow(10000.0, -2.0 * static_cast<double>(i % (HEAD / 2)) / static_cast<double>(HEAD));
                const double angle = static_cast<double>(lengths[static_cast<size_t>(sequence)]) * frequency;
                cosineHost.push_back(static_cast<float>(std::cos(angle)));
                sineHost.push_back(static_cast<float>(std::sin(angle)));
            }
        }
        Tensor cosine;
        Tensor sine;
        CHECK_RET(cosine.Create(ACL_FLOAT16, {BATCH, 1, 1, HEAD}, ToHalf(cosineHost)));
        CHECK_RET(sine.Create(ACL_FLOAT16, {BATCH, 1, 1, HEAD}, ToHalf(sineHost)));

        // 5. Queries, keys and values; the new keys and values go to their places in the cache
        CHECK_RET(queue.Norm(x.Get(), gamma.Get(), normed.Get(), rstd.Get()));
        CHECK_RET(queue.Product(normed.Get(), toQueryKeyValue, queryKeyValue.Get()));
        CHECK_RET(queue.Turn(plainQuery.Get(), cosine.Get(), sine.Get(), query.Get()));
        CHECK_RET(queue.Turn(plainKey.Get(), cosine.Get(), sine.Get(), key.Get()));
        const size_t bytes = static_cast<size_t>(KEY) * sizeof(aclFloat16);
        for (int64_t sequence = 0; sequence < BATCH; ++sequence) {
            const int64_t place = slot(sequence, lengths[static_cast<size_t>(sequence)]);
            CHECK_RET(aclrtMemcpyAsync(Place(keyCache, place), bytes, Place(key, sequence * KEY), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                       session.GetStream()));
            CHECK_RET(aclrtMemcpyAsync(Place(valueCache, place), bytes, Place(queryKeyValue, sequence * columns + QUERY + KEY), bytes,
                                       ACL_MEMCPY_DEVICE_TO_DEVICE, session.GetStream()));
            ++lengths[static_cast<size_t>(sequence)];
        }

        // 6. Attention; a list takes its tensors along when it is destroyed, so it gets descriptions of its own
        const Dims strides = ContiguousStrides(pages);
        aclTensor* keyPages = aclCreateTensor(pages.data(), pages.size(), ACL_FLOAT16, strides.data(), 0, ACL_FORMAT_ND, pages.data(),
                                              pages.size(), keyCache.Memory().Address());
        aclTensor* valuePages = aclCreateTensor(pages.data(), pages.size(), ACL_FLOAT16, strides.data(), 0, ACL_FORMAT_ND, pages.data(),
                                                pages.size(), valueCache.Memory().Address());
        aclTensorList* keyList = aclCreateTensorList(&keyPages, 1);
        aclTensorList* valueList = aclCreateTensorList(&valuePages, 1);
        aclIntArray* counts = aclCreateIntArray(lengths.data(), lengths.size());
        char layout[] = "BSH";
        const int status = queue.Run(
            [&](uint64_t* size, aclOpExecutor** executor) {
                return aclnnFusedInferAttentionScoreV2GetWorkspaceSize(
                    queryRows.Get(), keyList, valueList, nullptr, nullptr, nullptr, counts, nullptr, nullptr, nullptr, nullptr,
                    nullptr, nullptr, nullptr, blockTable.Get(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                    nullptr, HEADS, SCALE, ALL_TOKENS, ALL_TOKENS, layout, KEY_HEADS, 0, 0, PAGE, 0, false, 0, 0, attendedRows.Get(),
                    nullptr, size, executor);
            },
            aclnnFusedInferAttentionScoreV2);
        aclDestroyTensorList(keyList);
        aclDestroyTensorList(valueList);
        aclDestroyIntArray(counts);
        CHECK_RET(status);

        // 7. The rest of the layer, and the residuals
        CHECK_RET(queue.Product(attended.Get(), toOutput, projected.Get()));
        CHECK_RET(queue.Add(x.Get(), projected.Get(), one, x.Get()));
        CHECK_RET(queue.Norm(x.Get(), gamma.Get(), normed.Get(), rstd.Get()));
        CHECK_RET(queue.Product(normed.Get(), toInner, inner.Get()));
        CHECK_RET(queue.Gate(inner.Get(), gated.Get()));
        CHECK_RET(queue.Product(gated.Get(), toHidden, projected.Get()));
        CHECK_RET(queue.Add(x.Get(), projected.Get(), one, x.Get()));
        CHECK_RET(queue.Wait());

        // 8. Compare with the formulas, from the same input
        const Row input = FromHalf(before);
        const Row cosineRow = FromHalf(ToHalf(cosineHost));
        const Row sineRow = FromHalf(ToHalf(sineHost));
        Row expected;
        for (int64_t sequence = 0; sequence < BATCH; ++sequence) {
            const size_t s = static_cast<size_t>(sequence);
            const Row own = Part(input, sequence * HIDDEN, HIDDEN);
            const Row all = toQueryKeyValue.Times(RmsNorm(own, gammaRow));
            const Row angles[] = {Part(cosineRow, sequence * HEAD, HEAD), Part(sineRow, sequence * HEAD, HEAD)};
            keys[s].push_back(Rotary(Part(all, QUERY, KEY), angles[0], angles[1]));
            values[s].push_back(Part(all, QUERY + KEY, KEY));
            const Row seen = Attention(Rotary(Part(all, 0, QUERY), angles[0], angles[1]), keys[s], values[s]);
            const Row middle = Sum(own, toOutput.Times(seen));
            const Row out = Sum(middle, toHidden.Times(SwiGlu(toInner.Times(RmsNorm(middle, gammaRow)))));
            expected.insert(expected.end(), out.begin(), out.end());
        }
        std::vector<aclFloat16> after(before.size());
        CHECK_RET(x.Memory().Read(&after));
        const std::string name = "step " + std::to_string(step + 1);
        wrong += Compare(name.c_str(), FromHalf(after), expected, TOLERANCE);
    }
    aclDestroyScalar(one);
    return wrong == 0 ? 0 : 1;
}
