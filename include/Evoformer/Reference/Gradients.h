//===- Gradients.h - Reference gradients of an attention --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of the backward pass: gradients in f64 and as a framework's eager
// mode with automatic differentiation computes them.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_GRADIENTS_H
#define EVOFORMER_REFERENCE_GRADIENTS_H

#include "Evoformer/Reference/Compare.h"

namespace mlir::evoformer::reference {

/// An array in the default order of its dimensions, dense. A broadcast
/// dimension of a bias has size 1.
struct DenseArray {
  std::array<int64_t, 5> sizes = {};
  std::vector<double> elements;
  /// Of the f64 reference: the sums of the absolute values of the terms that
  /// are added up to the elements. A gradient is full of differences, and what
  /// it is rounded to has the size of their terms.
  std::vector<double> magnitudes;
};

/// Gradients of sum(out * outputGradient): of every input, empty for masks of
/// i1 and for a gate that is not there.
struct AttentionGradients {
  DenseArray query, key, value, gate;
  std::vector<DenseArray> biases;
};

/// In f64. A dropped key has weight 0 and contributes nothing, so that a query
/// without keys has zero gradients.
///
/// With `output`, what `evoformer.attention_backward` defines: that op takes
/// the output that the forward op has rounded, for delta and for the gate's
/// gradient.
AttentionGradients computeGradients(const AttentionProblem &problem,
                                    const View &outputGradient,
                                    unsigned threads = 0,
                                    const View *output = nullptr);

/// What eager mode computing in `type` (see computeEagerAttention) gets from
/// automatic differentiation: every intermediate gradient is rounded to the
/// type of its tensor, sums over broadcast dimensions are rounded once.
AttentionGradients computeEagerGradients(const AttentionProblem &problem,
                                         const View &outputGradient,
                                         ElementType type,
                                         unsigned threads = 0);

/// Of an element: the mean square of what it may be off by, the most that
/// independent errors add up to, what they have in common and which part of
/// that products leave which take operands for 0; of the mean square what other
/// rows share; and what weights without digits may make of it.
struct ElementErrors {
  double square = 0, most = 0, shared = 0, flushed = 0, common = 0, lost = 0;
  /// Whether it may be NaN or infinite, whatever the gradient is: 0, the weight
  /// of a key that a bias of the query or a range drops, times an infinity.
  bool mayBeInfinite = false;
};

/// In the order of the gradient's elements, before they are rounded to their
/// type.
using GradientErrors = std::vector<ElementErrors>;

struct GradientBounds {
  GradientErrors query, key, value, gate;
  std::vector<GradientErrors> biases;
};

/// Propagates the declared roundings (Roundings.h) of the backward pass, which
/// takes `output`, to the gradients, to first order in f64
/// (docs/rationale/error-bound.md).
GradientBounds boundGradients(const AttentionProblem &problem,
                              const View &outputGradient, const View &output,
                              unsigned threads = 0,
                              const Arithmetic &arithmetic = {});

/// Compares a gradient with `reference`, which computeGradients makes of the
/// output that the gradient has been computed from. An element is right within
/// what the roundings explain, `errors`; of 32 rows or more the median error
/// must have their size, and errors average out. A row runs along the last
/// dimension whose size is not 1.
///
/// Eager mode's error, of `eager` to `exact`, the gradient of the exact output,
/// is reported, and rows that are further off than twice that, plus an ulp, are
/// counted.
Comparison compareGradient(const View &gradient, const DenseArray &reference,
                           const DenseArray &eager, const DenseArray &exact,
                           const GradientErrors &errors);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_GRADIENTS_H
