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
  /// Of the exact gradients: the same where the gradient of a logit has the
  /// terms weight * gradient * (value - output), whose errors are those of
  /// eager mode: it takes delta from the products themselves.
  std::vector<double> spreads;
  /// Of eager mode: what two roundings to its type make of a term at most.
  double twoRoundings = 0;
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

/// Compares a gradient with `reference`, which computeGradients makes of the
/// output that the gradient has been computed from; `exact` is that of the
/// exact output. A row runs along the last dimension whose size is not 1. Let e
/// be the difference of a row of the gradient to the reference r or, if that is
/// smaller, to the exact row, g that of eager mode to the exact row, m the row
/// of magnitudes, s that of spreads, and rho twice the median of |g| / |s| over
/// all rows with |g| > 0, the usual error of eager mode. Accepted is
///
///     |e| <= 2 max(|g|, rho |s|) + |u| + (1e-6 + t) |m|
///
/// with u as in compareOutput and t what two roundings make of a term; and of
/// 32 rows or more, that the median of
/// (|e| - |u|) / |m| is at most 1.25 times that of |g| / |m|, plus 1e-6;
/// at most twice that where it is more than four roundings or half of eager
/// mode's rows are off by half of their norm, since large masks of queries have
/// taken the digits of most rows. Their mean of signed errors, those along the
/// row, is no more than what is left of a draw, of large masks and of weights
/// whose digits are cut off. docs/rationale/accepted-gradients.md says why.
Comparison compareGradient(const View &gradient, const DenseArray &reference,
                           const DenseArray &eager, const DenseArray &exact);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_GRADIENTS_H
