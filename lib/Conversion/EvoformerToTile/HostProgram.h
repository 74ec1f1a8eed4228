//===- HostProgram.h - The host side of an attention ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOSTPROGRAM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOSTPROGRAM_H

#include "AttentionSchedule.h"
#include "Kernels.h"

namespace mlir::evoformer {

/// Attention as the graph level states it, every operand a memref with its
/// dimensions in canonical order ([b, n, h, s, d], [b, n, h, q, k]).
struct HostAttention {
  AttentionFacts facts;
  Value query, key, value, gate, output, lse, stats;
  SmallVector<Bias> biases;
};

/// Whether the type tells that the innermost stride is 1.
bool hasUnitStride(Value memory);

/// The same memory with an innermost stride of 1 in its type, of which the
/// caller knows that it is; unchanged where the type says otherwise.
Value castToUnitStride(TileBuilder &builder, Value memory);

/// Writes, at the builder's place, the launches that compute `attention`, with
/// their intermediates and guards, and makes the kernels.
void writeHostProgram(TileBuilder &builder, KernelFactory &factory,
                      const HostAttention &attention,
                      const AttentionSchedule &schedule);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOSTPROGRAM_H
