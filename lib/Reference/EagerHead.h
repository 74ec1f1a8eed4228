//===- EagerHead.h - One head as eager mode computes it ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the emulation of eager mode and that of its gradients.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_EAGERHEAD_H
#define EVOFORMER_LIB_REFERENCE_EAGERHEAD_H

#include "Head.h"

namespace mlir::evoformer::reference {

inline float roundToFloat(double value, ElementType type) {
  return static_cast<float>(roundTo(value, type));
}

/// One head, query by query; every vector is of the last query.
class EagerHead {
public:
  EagerHead(const AttentionProblem &problem, ElementType type, int64_t b,
            int64_t n, int64_t h);

  /// Makes the weights of query i; returns the log-sum-exp, or what divides
  /// weights that are logits.
  float computeWeights(int64_t i);

  /// Makes the weighted sum of the values, rounded to the type.
  void weighValues();

  /// The gate's factor of element e of query i.
  float gateFactor(int64_t i, int64_t e) const;
  /// The type of the output: an f32 gate promotes the product.
  ElementType gatedType() const;

  const AttentionProblem &problem;
  ElementType type;
  /// An f32 bias promotes the logits.
  ElementType logitType;
  int64_t b, n, h;
  HeadInputs<float> inputs;
  HeadBiases biases;
  std::vector<uint8_t> kept;
  /// The softmax rounded to the logits' type, and then to the type.
  std::vector<float> softmax, weights;
  std::vector<float> ungated;
  /// What weights that are logits are divided by.
  float divisor = 1;
  /// The derivatives of logits by scaled scores, and by what is captured.
  std::vector<float> derivatives, captureDerivatives;
  /// What dropout multiplies each weight by, where values are summed.
  std::vector<float> dropFactors;

private:
  void computeLogits(int64_t i);
  void weighLogits();

  std::vector<float> logits;
};

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_EAGERHEAD_H
