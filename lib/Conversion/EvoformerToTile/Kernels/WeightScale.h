//===- WeightScale.h - Weights that narrowing keeps -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTSCALE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTSCALE_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer {

/// What weights are multiplied by before they are narrowed to the operands'
/// type; sums of products are divided by it. A matrix unit that takes
/// subnormals for 0 would lose weights of f16 below 2^-14; no weight is above
/// 1, so that the largest power of two in f16 leaves those from 2^-29 on.
inline double getWeightScale(tile::TargetAttr target, Type elementType) {
  return elementType.isF16() && target.flushesSubnormals() ? 0x1p15 : 1;
}

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTSCALE_H
