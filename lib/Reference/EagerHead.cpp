//===- EagerHead.cpp - One head as eager mode computes it -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of a framework without fusion: every intermediate tensor is rounded
// to its element type. Products accumulate in f32 in the order of a blocked
// matrix product.
//
//===----------------------------------------------------------------------===//

#include "EagerHead.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

/// How many products a matrix library adds up before it adds to the result.
static constexpr int64_t kBlock = 128;

/// The largest finite number.
static float getLargest(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 65504;
  case ElementType::BF16:
    return 0x1.fep127f;
  default:
    return std::numeric_limits<float>::max();
  }
}

EagerHead::EagerHead(const AttentionProblem &problem, ElementType type,
                     int64_t b, int64_t n, int64_t h)
    : problem(problem), type(type), logitType(type), b(b), n(n), h(h),
      inputs(readHead<float>(problem, b, n, h)), biases(problem, b, n, h),
      softmax(problem.keys), weights(problem.keys), ungated(problem.valueDepth),
      logits(problem.keys) {
  for (const Bias &bias : problem.biases)
    if (bias.view.type == ElementType::F32)
      logitType = ElementType::F32;
}

void EagerHead::computeLogits(int64_t i) {
  logits.assign(problem.keys, 0.0f);
  derivatives.assign(problem.keys, 1.0f);
  captureDerivatives.assign(problem.keys, 0.0f);
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
    if (problem.score) {
      ScoreResult result = problem.applyScore(b, n, h, i, j, scaled);
      scaled = roundToFloat(result.value, type);
      derivatives[j] = roundToFloat(result.derivative, type);
      captureDerivatives[j] = roundToFloat(result.byCapture, type);
    }
    float relative =
        roundToFloat(biases.independent()[j] - biases.m0(), logitType);
    logits[j] = roundToFloat(scaled + relative, logitType);
  }
  // The op promises that finite biases drop no key: eager mode would have to
  // clamp its sums where they overflow.
  float largest = getLargest(logitType);
  biases.readQuery(i, kept, [&](int64_t j, double term) {
    bool isFinite = std::isfinite(logits[j]) && std::isfinite(term);
    logits[j] = roundToFloat(logits[j] + term, logitType);
    if (isFinite)
      logits[j] = std::clamp(logits[j], -largest, largest);
  });
  for (int64_t j = 0; j < problem.keys; ++j)
    if (!kept[j])
      logits[j] = -std::numeric_limits<float>::infinity();
}

float EagerHead::computeWeights(int64_t i) {
  computeLogits(i);
  float maximum = -std::numeric_limits<float>::infinity();
  for (float logit : logits)
    maximum = std::max(maximum, logit);
  dropFactors.resize(problem.keys);
  if (problem.weights)
    weighLogits();
  float total = problem.weights ? divisor : 0;
  for (int64_t begin = 0; begin < problem.keys && !problem.weights;
       begin += kBlock) {
    float part = 0;
    for (int64_t j = begin; j < std::min(begin + kBlock, problem.keys); ++j) {
      softmax[j] = std::exp(logits[j] - maximum);
      part += softmax[j];
    }
    total += part;
  }
  for (int64_t j = 0; j < problem.keys; ++j) {
    softmax[j] = roundToFloat(softmax[j] / total, logitType);
    dropFactors[j] = static_cast<float>(problem.getDropFactor(b, n, h, i, j));
    weights[j] = roundToFloat(softmax[j], type);
    if (problem.dropout)
      weights[j] = roundToFloat(weights[j] * dropFactors[j], type);
  }
  return problem.weights ? divisor : maximum + std::log(total);
}

void EagerHead::weighLogits() {
  float size = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    softmax[j] = std::isinf(logits[j]) && logits[j] < 0 ? 0 : logits[j];
    size += std::fabs(softmax[j]);
  }
  std::optional<double> least = problem.weights->least;
  divisor = least ? std::max(size, static_cast<float>(*least)) : 1;
  if (divisor == 0)
    divisor = std::numeric_limits<float>::infinity();
}

void EagerHead::weighValues() {
  std::vector<float> part(problem.valueDepth);
  ungated.assign(problem.valueDepth, 0.0f);
  for (int64_t begin = 0; begin < problem.keys; begin += kBlock) {
    part.assign(problem.valueDepth, 0.0f);
    for (int64_t j = begin; j < std::min(begin + kBlock, problem.keys); ++j)
      for (int64_t e = 0; e < problem.valueDepth; ++e)
        part[e] += weights[j] * inputs.value[j * problem.valueDepth + e];
    for (int64_t e = 0; e < problem.valueDepth; ++e)
      ungated[e] += part[e];
  }
  for (float &element : ungated)
    element = roundToFloat(element, type);
}

float EagerHead::gateFactor(int64_t i, int64_t e) const {
  return roundToFloat(sigmoid(problem.gate->at(b, n, i, h, e)),
                      problem.gate->type);
}

ElementType EagerHead::gatedType() const {
  bool promotes = problem.gate && problem.gate->type == ElementType::F32;
  return promotes ? ElementType::F32 : type;
}
