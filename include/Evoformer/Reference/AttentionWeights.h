//===- AttentionWeights.h - Reference weights of an attention ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of `evoformer.attention_weights`.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_ATTENTIONWEIGHTS_H
#define EVOFORMER_REFERENCE_ATTENTIONWEIGHTS_H

#include "Evoformer/Reference/Gradients.h"

namespace mlir::evoformer::reference {

/// The weights [B,N,H,Sq,Sk] in f64, before dropout divides those that it
/// keeps: those that it drops are negative. Dropped keys, and all keys of a
/// query that keeps none, have 0.
DenseArray computeWeights(const AttentionProblem &problem,
                          unsigned threads = 0);

/// Propagates the declared roundings (Roundings.h) to weights that are made
/// again from the statistics.
GradientErrors boundWeights(const AttentionProblem &problem,
                            unsigned threads = 0,
                            const Arithmetic &arithmetic = {});

/// Compares weights as gradients are compared. An error in a sign is as large
/// as twice the weight.
Comparison compareWeights(const View &weights, const DenseArray &reference,
                          const GradientErrors &errors);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_ATTENTIONWEIGHTS_H
