//===- HostProgram.h - The host side of an attention ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTPROGRAM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTPROGRAM_H

#include "../Kernels/Kernels.h"
#include "../Schedules/AttentionSchedule.h"

namespace mlir::evoformer {

/// Attention as the graph level states it, every operand a memref with its
/// dimensions in canonical order ([b, n, h, s, d], [b, n, h, q, k]).
struct HostAttention {
  AttentionFacts facts;
  Value query, key, value, gate, output, lse, stats;
  SmallVector<Bias> biases, captures;
  RowLengths lengths;
  KeyOffsets keyOffsets;
  Value dropout;
};

/// Writes, at the builder's place, the launches that compute `attention`, with
/// their intermediates and guards, and makes the kernels: of the first of
/// `cuts` whose block has all queries of a row, or of the last one. All have
/// blocks of as many keys.
void writeHostProgram(TileBuilder &builder, KernelFactory &factory,
                      const HostAttention &attention,
                      ArrayRef<AttentionSchedule> cuts);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTPROGRAM_H
