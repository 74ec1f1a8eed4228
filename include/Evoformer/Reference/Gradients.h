//===- Gradients.h - Reference gradients of an attention --------*- C++ -*-===//
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
};

/// Gradients of sum(out * outputGradient): of every input, empty for masks of
/// i1 and for a gate that is not there.
struct AttentionGradients {
  DenseArray query, key, value, gate;
  std::vector<DenseArray> biases;
};

/// In f64. A dropped key has weight 0 and contributes nothing, so that a query
/// without keys has zero gradients.
AttentionGradients computeGradients(const AttentionProblem &problem,
                                    const View &outputGradient,
                                    unsigned threads = 0);

/// What eager mode computing in `type` (see computeEagerAttention) gets from
/// automatic differentiation: every intermediate gradient is rounded to the
/// type of its tensor, sums over broadcast dimensions are rounded once.
AttentionGradients computeEagerGradients(const AttentionProblem &problem,
                                         const View &outputGradient,
                                         ElementType type,
                                         unsigned threads = 0);

/// Compares a gradient with the reference by the rule of compareOutput. A row
/// runs along the last dimension whose size is not 1.
Comparison compareGradient(const View &gradient, const DenseArray &reference,
                           const DenseArray &eager);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_GRADIENTS_H
