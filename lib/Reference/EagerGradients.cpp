//===- EagerGradients.cpp - Gradients as eager mode computes them ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Automatic differentiation of the steps in EagerHead.cpp: each intermediate
// gradient has the type of its tensor, the softmax's works in f32.
//
//===----------------------------------------------------------------------===//

#include "EagerHead.h"
#include "GradientSums.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir::evoformer::reference;

namespace {
class EagerGradientHead {
public:
  EagerGradientHead(const AttentionProblem &problem, const View &outputGradient,
                    ElementType type, int64_t b, int64_t n, int64_t h)
      : problem(problem), outputGradient(outputGradient), type(type),
        head(problem, type, b, n, h), sums(problem), query(sums.query.size()),
        key(sums.key.size()), value(sums.value.size()),
        weighted(problem.valueDepth), products(problem.keys) {}

  void run(GradientResult &result) {
    for (int64_t i = 0; i < problem.queries; ++i)
      runQuery(i);
    auto round = [&](const std::vector<float> &from, std::vector<double> &to) {
      for (size_t at = 0; at < from.size(); ++at)
        to[at] = roundTo(from[at], type);
    };
    round(query, sums.query);
    round(key, sums.key);
    round(value, sums.value);
    result.add(sums, head.b, head.n, head.h);
  }

private:
  /// The gradient of the output before the gate, and that of the gate.
  void ungate(int64_t i) {
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      auto gradient =
          static_cast<float>(outputGradient.at(head.b, head.n, i, head.h, e));
      if (problem.gate) {
        ElementType gateType = problem.gate->type;
        float factor = head.gateFactor(i, e);
        gradient = roundToFloat(gradient, head.gatedType());
        float ofFactor = roundToFloat(gradient * head.ungated[e], gateType);
        sums.gate[i * problem.valueDepth + e] =
            roundTo(ofFactor * (1 - factor) * factor, gateType);
        gradient *= factor;
      }
      weighted[e] = roundToFloat(gradient, type);
    }
  }

  void runQuery(int64_t i) {
    head.computeWeights(i);
    // Models guard against queries without keys, and against what dropped keys
    // hold; without that, a NaN would allow any error here.
    if (llvm::none_of(head.kept, [](uint8_t kept) { return kept != 0; }))
      return;
    head.weighValues();
    ungate(i);
    const std::vector<float> &values = head.inputs.value;
    float delta = 0;
    for (int64_t j = 0; j < problem.keys; ++j) {
      float product = 0;
      for (int64_t e = 0; e < problem.valueDepth; ++e) {
        product += weighted[e] * values[j * problem.valueDepth + e];
        value[j * problem.valueDepth + e] += head.weights[j] * weighted[e];
      }
      products[j] = roundToFloat(product, type);
      if (problem.dropout)
        products[j] = roundToFloat(products[j] * head.dropFactors[j], type);
      delta += head.softmax[j] * products[j];
    }
    for (int64_t j = 0; j < problem.keys; ++j) {
      if (!head.kept[j])
        continue;
      float logit = roundToFloat(problem.weights
                                     ? products[j] / head.divisor
                                     : head.softmax[j] * (products[j] - delta),
                                 head.logitType);
      sums.logits[i * problem.keys + j] = logit;
      float score = roundToFloat(logit, type);
      if (!problem.captures.empty())
        sums.captures[i * problem.keys + j] =
            roundToFloat(score * head.captureDerivatives[j], type);
      if (problem.score)
        score = roundToFloat(score * head.derivatives[j], type);
      float scaled =
          roundToFloat(score * static_cast<float>(problem.scale), type);
      for (int64_t d = 0; d < problem.depth; ++d) {
        query[i * problem.depth + d] +=
            scaled * head.inputs.keyTransposed[d * problem.keys + j];
        key[j * problem.depth + d] +=
            scaled * head.inputs.query[i * problem.depth + d];
      }
    }
  }

  const AttentionProblem &problem;
  const View &outputGradient;
  ElementType type;
  EagerHead head;
  GradientSums sums;
  /// Sums of products, in f32.
  std::vector<float> query, key, value;
  std::vector<float> weighted, products;
};
} // namespace

AttentionGradients mlir::evoformer::reference::computeEagerGradients(
    const AttentionProblem &problem, const View &outputGradient,
    ElementType type, unsigned threads) {
  GradientResult result(problem);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    EagerGradientHead(problem, outputGradient, type, b, n, h).run(result);
  });
  std::vector<Bias> all = problem.getAllBiases();
  for (size_t i = 0; i < all.size(); ++i)
    for (double &element : result.gradients.biases[i].elements)
      element = roundTo(element, all[i].view.type);
  // What the heads of a group have each rounded is summed and rounded again.
  for (DenseArray *array : {&result.gradients.key, &result.gradients.value})
    for (double &element : array->elements)
      element = roundTo(element, type);
  return std::move(result.gradients);
}
