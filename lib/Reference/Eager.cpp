//===- Eager.cpp - Attention as an eager framework computes it ------------===//
//
// The steps of a framework without fusion: every intermediate tensor is rounded
// to its element type. Products accumulate in f32 in the order of a blocked
// matrix product.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Attention.h"
#include "Head.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

/// How many products a matrix library adds up before it adds to the result.
static constexpr int64_t kBlock = 128;

static float roundToFloat(double value, ElementType type) {
  return static_cast<float>(roundTo(value, type));
}

namespace {
class EagerHead {
public:
  EagerHead(const AttentionProblem &problem, ElementType type,
            ElementType outputType, int64_t b, int64_t n, int64_t h)
      : problem(problem), type(type), outputType(outputType), b(b), n(n), h(h),
        inputs(readHead<float>(problem, b, n, h)), biases(problem, b, n, h),
        logits(problem.keys), weights(problem.keys) {
    // An f32 bias promotes the logits.
    logitType = type;
    for (const Bias &bias : problem.biases)
      if (bias.view.type == ElementType::F32)
        logitType = ElementType::F32;
  }

  void run(AttentionResult &result) {
    ResultIndex index{problem};
    result.m0[index.head(b, n, h)] = biases.m0();
    for (int64_t i = 0; i < problem.queries; ++i) {
      int64_t row = index.statistic(b, n, h, i);
      computeLogits(i);
      double stats = softmax();
      result.stats[row] = stats;
      result.lse[row] = stats + biases.m0();
      weighValues(i, &result.out[index.out(b, n, i, h)]);
    }
  }

private:
  void computeLogits(int64_t i) {
    logits.assign(problem.keys, 0.0f);
    for (int64_t d = 0; d < problem.depth; ++d) {
      float q = inputs.query[i * problem.depth + d];
      const float *keys = inputs.keyTransposed.data() + d * problem.keys;
      for (int64_t j = 0; j < problem.keys; ++j)
        logits[j] += q * keys[j];
    }
    for (int64_t j = 0; j < problem.keys; ++j) {
      float product = roundToFloat(logits[j], type);
      float scaled =
          roundToFloat(product * static_cast<float>(problem.scale), type);
      float relative =
          roundToFloat(biases.independent()[j] - biases.m0(), logitType);
      logits[j] = roundToFloat(scaled + relative, logitType);
    }
    biases.readQuery(i, kept, [&](int64_t j, double term) {
      logits[j] = roundToFloat(logits[j] + term, logitType);
    });
    for (int64_t j = 0; j < problem.keys; ++j)
      if (!kept[j])
        logits[j] = -std::numeric_limits<float>::infinity();
  }

  /// Makes the weights; returns the log-sum-exp.
  float softmax() {
    float maximum = -std::numeric_limits<float>::infinity();
    for (float logit : logits)
      maximum = std::max(maximum, logit);
    float total = 0;
    for (int64_t begin = 0; begin < problem.keys; begin += kBlock) {
      float part = 0;
      for (int64_t j = begin; j < std::min(begin + kBlock, problem.keys); ++j) {
        weights[j] = std::exp(logits[j] - maximum);
        part += weights[j];
      }
      total += part;
    }
    for (float &weight : weights)
      weight = roundToFloat(roundToFloat(weight / total, logitType), type);
    return maximum + std::log(total);
  }

  void weighValues(int64_t i, double *out) {
    std::vector<float> sum(problem.valueDepth, 0.0f);
    std::vector<float> part(problem.valueDepth);
    for (int64_t begin = 0; begin < problem.keys; begin += kBlock) {
      part.assign(problem.valueDepth, 0.0f);
      for (int64_t j = begin; j < std::min(begin + kBlock, problem.keys); ++j)
        for (int64_t e = 0; e < problem.valueDepth; ++e)
          part[e] += weights[j] * inputs.value[j * problem.valueDepth + e];
      for (int64_t e = 0; e < problem.valueDepth; ++e)
        sum[e] += part[e];
    }
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      float element = roundToFloat(sum[e], type);
      if (problem.gate) {
        // An f32 gate promotes the product.
        ElementType gateType = problem.gate->type;
        float factor =
            roundToFloat(sigmoid(problem.gate->at(b, n, i, h, e)), gateType);
        element = roundToFloat(element * factor,
                               gateType == ElementType::F32 ? gateType : type);
      }
      out[e] = roundTo(element, outputType);
    }
  }

  const AttentionProblem &problem;
  ElementType type;
  ElementType outputType;
  ElementType logitType;
  int64_t b, n, h;
  HeadInputs<float> inputs;
  HeadBiases biases;
  std::vector<uint8_t> kept;
  std::vector<float> logits;
  std::vector<float> weights;
};
} // namespace

AttentionResult mlir::evoformer::reference::computeEagerAttention(
    const AttentionProblem &problem, ElementType type, ElementType outputType,
    unsigned threads) {
  AttentionResult result = makeResult(problem);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    EagerHead(problem, type, outputType, b, n, h).run(result);
  });
  return result;
}
