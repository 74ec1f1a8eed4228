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

/// Whether weights relative to the largest one of a row are multiplied by
/// 2^15, the largest power of two in f16: a matrix unit that takes subnormals
/// for 0 would lose those below 2^-14, and loses those below 2^-29 then.
inline bool keepsSmallWeights(tile::TargetAttr target, Type elementType) {
  return elementType.isF16() && target.flushesSubnormals();
}

/// What weights of at most 1 are multiplied by before they are narrowed to the
/// operands' type; sums of products are divided by it. So it is, too, where an
/// instruction that rounds a product saves one that packs.
inline double getWeightScale(tile::TargetAttr target, Type elementType) {
  bool isFree = elementType.isF16() && target.roundsProducts();
  return isFree || keepsSmallWeights(target, elementType) ? 0x1p15 : 1;
}

/// The same of weights relative to the first keys, which may be larger: no
/// more than that instruction asks for, since it leaves less room for them. Of
/// a factor of 2 the code generator would make an addition.
inline double getRelativeWeightScale(tile::TargetAttr target,
                                     Type elementType) {
  if (keepsSmallWeights(target, elementType))
    return 0x1p15;
  return elementType.isF16() && target.roundsProducts() ? 0x1p2 : 1;
}

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTSCALE_H
