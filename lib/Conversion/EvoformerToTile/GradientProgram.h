//===- GradientProgram.h - Programs of gradient kernels -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_GRADIENTPROGRAM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_GRADIENTPROGRAM_H

#include "GradientKernels.h"
#include "WorkItem.h"

namespace mlir::evoformer {

/// The programs of all kinds: the weights p = 2^(logits - stats) and the
/// gradients of the logits, p * (weighted * value^T - delta), of a tile after
/// the other (Dao et al., "FlashAttention", 2022, appendix B.4).
class GradientProgram {
public:
  GradientProgram(TileBuilder &builder, const AttentionFacts &facts,
                  const GradientOperands &operands,
                  const AttentionBlocks &blocks, bool alignedRows,
                  tile::TargetAttr target)
      : builder(builder), facts(facts), operands(operands), blocks(blocks),
        alignedRows(alignedRows), zero(builder.index(0)),
        // See the forward kernel.
        fastRounding(target.isCPU() ||
                     target.hasProperty("native_bf16_convert")),
        chooseDrops(target.isCPU() || facts.elementType.isF32()),
        parts(cutDepth(facts.elementType, facts.depth)),
        valueParts(cutDepth(facts.elementType, facts.valueDepth)) {}

  void writeQuery();
  void writeKeyValue();
  void writeBias();

private:
  /// Memory of an item, from where its ranges start.
  struct Slices {
    Value query, key, value, weighted, stats, delta;
    LogitsSlices logits;
  };
  /// What a tile needs of its queries: depth parts, and the negatives of
  /// stats (in base 2) and delta [rows, queries].
  struct QueryTiles {
    SmallVector<Value> query, weighted;
    Value stats, delta;
  };
  struct KeyTiles {
    SmallVector<Value> key, value;
  };
  /// [rows, queries, keys] or [rows, keys, queries].
  struct Recomputed {
    Value weights, logits;
  };

  bool needsLogitGradient() const { return operands.delta != nullptr; }

  /// `hasBias`: only these biases.
  Slices slice(const WorkItem &item,
               function_ref<bool(const Bias &)> hasBias = nullptr);
  QueryTiles loadQueries(TileBuilder &b, const WorkItem &item,
                         const Slices &slices, Value offset);
  KeyTiles loadKeys(TileBuilder &b, const WorkItem &item, const Slices &slices,
                    Value offset);
  /// `sum`: to which the gradient of the logits is added.
  Recomputed recompute(TileBuilder &b, const Slices &slices,
                       const QueryTiles &queries, const KeyTiles &keys,
                       const LogitsTile &tile, const LogitsTerms &terms = {},
                       Value sum = {});

  /// Without an instruction for it, rounding to bf16 costs more than the
  /// exponential; cutting off the lower half is a byte permutation, and a
  /// factor on the sums makes up for it.
  bool truncates() const { return facts.elementType.isBF16() && !fastRounding; }
  Value narrow(TileBuilder &b, Value tile);

  /// sums + a * b for each part.
  SmallVector<Value> accumulate(TileBuilder &b, ValueRange sums, Value a,
                                ArrayRef<Value> parts);
  SmallVector<Value> zeros(int64_t positions, ArrayRef<DepthPart> parts);
  void store(const WorkItem &item, ValueRange sums, ArrayRef<DepthPart> parts,
             double factor, Value memory, const ItemRange &range);

  TileBuilder &builder;
  const AttentionFacts &facts;
  const GradientOperands &operands;
  const AttentionBlocks &blocks;
  bool alignedRows;
  Value zero;
  bool fastRounding, chooseDrops;
  SmallVector<DepthPart> parts, valueParts;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_GRADIENTPROGRAM_H
