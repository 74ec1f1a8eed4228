//===- Dropout.h - Which weights are dropped --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_DROPOUT_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_DROPOUT_H

#include "Logits.h"
#include "RowCounts.h"

namespace mlir::evoformer {

/// The draws by which a kernel drops weights: those of all kernels of an
/// attention are the same.
class Dropout {
public:
  /// At the start of a kernel's program. `state`: seed and offset, or null.
  Dropout(TileBuilder &builder, const AttentionFacts &facts, Value state,
          const LogitShape &shape);

  /// Whether anything is dropped.
  explicit operator bool() const { return seed != nullptr; }

  /// What sums of the weights that are kept are multiplied by.
  double getFactor() const { return 1 / (1 - threshold * 0x1p-16); }

  /// i1 in the tile's shape: the weights that are kept.
  Value findKept(TileBuilder &b, const ScorePlace &place,
                 const LogitsTile &tile) const;

private:
  int64_t threshold;
  /// Null: nothing is dropped.
  Value seed, offset;
  /// How many rows and heads there are.
  Value numRows, numHeads;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_DROPOUT_H
