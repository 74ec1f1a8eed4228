//===- JointCut.h - Items of one kernel for all gradients -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Items have a part of the rows of a head and a range of its keys. Rows that a
// bias's gradient sums need a copy of it for each part, and ranges of keys one
// of the query's gradient: what copies may take bounds how many items there
// are.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_JOINTCUT_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_JOINTCUT_H

#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// What the innermost loops of a processor with vectors like.
inline constexpr AttentionBlocks kJointBlocks = {1, 64, 64};

/// A cut into items, and what it takes.
struct JointCut {
  Value rowParts, rowsOfPart, keyRanges, keysOfRange;
  /// Copies of the query's and the bias's gradient; null where there are none.
  Value queryCopies, biasCopies;
  /// How many items there are, and whether the copies fit.
  Value items, fits;
};

/// The cut with the most items whose copies take at most `partialSumBytes`;
/// where that is -1, what the gradients of query, key and value take.
JointCut chooseJointCut(TileBuilder &builder, const GradientOperands &operands,
                        tile::TargetAttr target, int64_t partialSumBytes);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_JOINTCUT_H
