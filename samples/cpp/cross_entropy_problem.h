// Data for aclnnFusedLinearCrossEntropyLossGrad: what a forward pass leaves behind, and both gradients in double precision.
#ifndef CROSS_ENTROPY_PROBLEM_H
#define CROSS_ENTROPY_PROBLEM_H

#include "sample_support.h"

struct CrossEntropyProblem {
    int64_t rows;
    int64_t width;
    int64_t vocabulary;
    std::vector<double> grad;
    std::vector<double> input;
    std::vector<double> weight;
    std::vector<int64_t> target;
    std::vector<uint8_t> mask;  // one bit per row, least significant first; a set bit: the target lies in another shard
    std::vector<double> logitsMax;
    std::vector<double> sumExpLogits;
    std::vector<double> softmax;
    std::vector<double> inputGrad;
    std::vector<double> weightGrad;

    // The values of input and weight are those of their half type, so that the device sees the same ones.
    CrossEntropyProblem(int64_t vocabularySize, const std::vector<double>& inputValues, const std::vector<double>& weightValues)
        : rows(static_cast<int64_t>(inputValues.size()) * vocabularySize / static_cast<int64_t>(weightValues.size())),
          width(static_cast<int64_t>(weightValues.size()) / vocabularySize),
          vocabulary(vocabularySize),
          grad(ToDouble(RandomValues(static_cast<size_t>(rows), 0.25F, 1.5F, 41))),
          input(inputValues),
          weight(weightValues),
          target(static_cast<size_t>(rows)),
          mask(static_cast<size_t>(rows + 7) / 8),
          inputGrad(input.size()),
          weightGrad(weight.size()) {
        for (int64_t row = 0; row < rows; ++row) {
            target[row] = (row * 37 + 5) % vocabulary;
            if (row % 5 == 2) {
                mask[row / 8] = static_cast<uint8_t>(mask[row / 8] | (1U << (row % 8)));
            }
            Forward(row);
            Backward(row);
        }
    }

private:
    void Forward(int64_t row) {
        std::vector<double> logits(vocabulary);
        for (int64_t word = 0; word < vocabulary; ++word) {
            for (int64_t i = 0; i < width; ++i) {
                logits[word] += input[row * width + i] * weight[word * width + i];
            }
        }
        const double largest = *std::max_element(logits.begin(), logits.end());
        double sum = 0.0;
        for (double logit : logits) {
            sum += std::exp(logit - largest);
        }
        logitsMax.push_back(largest);
        sumExpLogits.push_back(sum);
        for (double logit : logits) {
            softmax.push_back(std::exp(logit - largest) / sum);
        }
    }

    void Backward(int64_t row) {
        const bool counted = ((mask[row / 8] >> (row % 8)) & 1) == 0;
        for (int64_t word = 0; word < vocabulary; ++word) {
            const double hit = counted && target[row] == word ? 1.0 : 0.0;
            const double slope = (softmax[row * vocabulary + word] - hit) * grad[row];
            for (int64_t i = 0; i < width; ++i) {
                inputGrad[row * width + i] += slope * weight[word * width + i];
                weightGrad[word * width + i] += slope * input[row * width + i];
            }
        }
    }
};

// The operator rounds the slopes to the half type before it adds up products, so an error is measured against the largest value.
inline Tolerance SumTolerance(const std::vector<double>& expected, int halfBits) {
    double largest = 0.0;
    for (double value : expected) {
        largest = std::max(largest, std::fabs(value));
    }
    return {std::ldexp(1.0, -halfBits), std::ldexp(largest, -halfBits - 1)};
}

#endif
