//===- ErrorBound.h - What roundings make of outputs ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error that the algorithm's own roundings explain, element by element.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_ERRORBOUND_H
#define EVOFORMER_REFERENCE_ERRORBOUND_H

#include "Evoformer/Reference/Attention.h"

namespace mlir::evoformer::reference {

/// Of each element of an output [B,N,Sq,H,Dv], dense: the most that it may be
/// off by, and the root mean square of that. Of each row [B,N,Sq,H]: the
/// variance of its error along itself, the product of both, what all rows may
/// have in common of it, and whether its logits have digits left. Of each row
/// [B,N,H,Sq] the most that its lse may be off by, and what stats add up to.
struct OutputBounds {
  std::vector<double> most, deviation;
  std::vector<double> alongVariance, alongShared;
  std::vector<uint8_t> hasDigits;
  std::vector<double> lse, stats;
};

/// What roundings depend on besides the algorithm.
struct Arithmetic {
  /// Products of 16-bit types take operands below the smallest normal number
  /// for 0.
  bool flushesSubnormals = false;
  /// Products of f32 are made of products of two terms of tf32 each.
  bool splitsProducts = false;
  /// Sums of products of 16-bit queries and keys may start from the biases.
  bool startsFromBiases = false;
  /// Gradients of logits are cut off to bf16 for products.
  bool cutsOffGradients = false;
  /// A bias's gradient that is summed over rows may be made of gradients of
  /// logits in the operands' type.
  bool sumsNarrowGradients = false;
};

/// Propagates the declared roundings (Roundings.h) to an output of a type, to
/// first order in f64 (docs/rationale/error-bound.md).
OutputBounds boundOutput(const AttentionProblem &problem,
                         ElementType outputType, unsigned threads = 0,
                         const Arithmetic &arithmetic = {});

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_ERRORBOUND_H
