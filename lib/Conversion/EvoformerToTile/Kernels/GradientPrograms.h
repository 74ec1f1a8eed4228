//===- GradientPrograms.h - What kernels of gradients do --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTPROGRAMS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTPROGRAMS_H

#include "LogitRecompute.h"

namespace mlir::evoformer {

// The programs of the kinds of kernels (see GradientKind), for a builder at a
// kernel's start.

/// The part `index` of memory [parts, b, n, h, x, y].
Value slicePart(TileBuilder &builder, Value memory, Value index);

/// The sums of a block of queries over their keys.
SmallVector<Value> sumKeysOfQueries(TileBuilder &builder,
                                    const LogitRecompute &shared,
                                    const WorkItem &item,
                                    const LogitRecompute::Slices &slices);

void writeQueryGradient(TileBuilder &builder, const LogitRecompute &shared);
/// From gradients of logits that lie in memory.
void writeQueryGradientOfSlab(TileBuilder &builder,
                              const LogitRecompute &shared);
void writeKeyValueGradient(TileBuilder &builder, const LogitRecompute &shared);
/// Of a bias, and where `shared` has one of the query as well.
void writeBiasGradient(TileBuilder &builder, const LogitRecompute &shared);
/// Of query, key and value.
void writeHeadGradient(TileBuilder &builder, const LogitRecompute &shared);
void writeJointGradient(TileBuilder &builder, const LogitRecompute &shared);
/// No gradient, but the weights themselves.
void writeWeights(TileBuilder &builder, const LogitRecompute &shared);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTPROGRAMS_H
