//===- GradientKernels.h - The kernels of a gradient ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTKERNELS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTKERNELS_H

#include "Kernels.h"

namespace mlir::evoformer {

/// What a kernel that recomputes the logits works on, as AttentionOperands.
struct GradientOperands {
  /// [b, n, h, s, d]; the last one is the gradient of the weighted sum of
  /// values.
  Value query, key, value, weightedGrad;
  /// Biases that depend on the query.
  SmallVector<Bias> biases;
  /// What the score reads.
  SmallVector<Bias> captures;
  Bias keySum;
  /// [2, b, n, h, s] and [b, n, h, s] of f32; delta may be null where only the
  /// value has a gradient.
  Value stats, delta;
  RowLengths lengths;
  KeyOffsets keyOffsets;
  /// [2] of i64: the seed and the offset of random numbers, or null.
  Value dropout;
  /// What to compute, [b, n, h, s, d].
  Value queryGrad, keyGrad, valueGrad;
  /// [b, n, h, q, k]: sums over the dimensions in which it broadcasts, which
  /// none does whose size is known to be 1.
  Bias biasGrad;
  /// It is that of what a score captures: the score's derivative is by it.
  bool ofCapture = false;
  /// Beside the query's gradient: the gradients of biases in which nothing is
  /// summed, those of the logits themselves.
  SmallVector<Bias> logitGrads;
  /// What is stored there are the weights, negative where they are dropped; no
  /// gradient is asked for, and there are no values.
  bool ofWeights = false;
  /// Whole vectors hold their keys: contiguous, and rows start at multiples.
  bool alignedLogitGrads = false;
  /// The gradients of the logits in the inputs' type, [b, n, h, k, q] in whole
  /// blocks of both: what the kernel of keys and values stores beside their
  /// gradients, and what that of the query reads instead of making them again.
  /// Null: nobody does.
  Value slab;
  /// Parts of these sums, each over so many steps of the loop: then `biasGrad`,
  /// or without it what there is of `keyGrad` and `valueGrad`, is of f32 and
  /// has the parts as a leading dimension. Null: one part.
  Value stepsOfPart;
  /// [b, n, h, s, d] of f32, with the gradients of query, key and value at
  /// once: what items keep of the query's from one block of keys to the next.
  /// Null: a block has all keys.
  Value querySums;
  /// With all gradients at once: the keys of an item. Then `queryGrad` is of
  /// f32 and has the items that share a query as a leading dimension, and steps
  /// of a part are rows.
  Value keysOfItem;

  /// All that are there, in the kernel's argument order.
  SmallVector<Value *> present();
  LogitShape getShape() const { return {query, key, lengths, keyOffsets}; }
  /// Whether the gradients of query, key and value are made at once, of blocks
  /// that have all keys.
  bool haveOneBlock() const {
    return queryGrad && keyGrad && valueGrad && !querySums && !keysOfItem;
  }
};

/// What the first step works on; null where there is none.
struct DeltaOperands {
  /// [b, n, h, s, d].
  Value gate, output, outputGrad;
  /// [b, n, h, s].
  Value delta;
  /// [b, n, h, s, d].
  Value weightedGrad, gateGrad;
  /// Those of the queries.
  RowLengths lengths;

  SmallVector<Value *> present();
  /// Of the logits' dimensions those without keys.
  LogitShape getShape() const { return {output, Value(), lengths}; }
};

/// Of a table's gradient an item owns so many entries, and computes the logits
/// for these: each takes two operations a logit, and a register a query.
inline constexpr int64_t kEntriesOfItem = 8;

/// How a kernel is cut and scheduled.
struct GradientSchedule {
  AttentionBlocks blocks;
  tile::ScheduleAttr attr;
  /// That a lane needs, by the estimate; 0: unknown.
  int64_t registers = 0;
};

/// Bytes of the vectors in memory that divide blocks of so many keys.
inline int64_t getKeyAlignment(Type element, int64_t keyBlock) {
  return getVectorBytes(keyBlock * getElementBytes(element));
}

/// The gradients of one attention that its logits' gradients are for.
struct SlabGradients {
  GradientOperands ofKeyValue, ofQuery;
  /// Of a bias that all rows share.
  Bias ofBias = {};
  GradientSchedule keyValueSchedule = {}, querySchedule = {};
};

/// What one recomputation is for. Query and one bias together: an item has a
/// block of queries with all keys in one tile, and loops over what is summed.
/// Head: query, key and value; an item has all queries and keys of a head.
/// Joint: key and value beside any others; an item has rows and keys of a head,
/// and what it sums of the others lies in memory that is its own. Weights: no
/// gradient; an item has a block of queries, and sums nothing.
enum class GradientKind {
  Query,
  KeyValue,
  Bias,
  QueryBias,
  Head,
  Joint,
  Weights
};
GradientKind getGradientKind(const GradientOperands &operands);

/// Whether the kernel sums the gradients of a block of keys over queries.
inline bool sumsKeys(GradientKind kind) {
  return kind == GradientKind::KeyValue || kind == GradientKind::Head;
}

/// What an item of the kernel owns: subgroups share a block of this dimension
/// and cannot sum over it.
enum class OwnedDim { Queries, Keys, None };
OwnedDim getOwnedDim(const GradientOperands &operands);

/// The kernel that recomputes logits for the gradients that `operands` has,
/// those of one kind. Its arguments are `operands.present()`.
tile::KernelOp createGradientKernel(KernelFactory &factory, Location loc,
                                    const AttentionFacts &facts,
                                    const GradientOperands &operands,
                                    const GradientSchedule &schedule,
                                    bool alignedRows);
SmallVector<Value> getGradientSpace(TileBuilder &builder,
                                    const GradientOperands &operands,
                                    const AttentionBlocks &blocks,
                                    const AttentionFacts &facts);

/// The steps of the loop of a bias's gradient along each summed dimension of
/// [b, n, h, q, k], null for the others.
std::array<Value, 5> countBiasSteps(TileBuilder &builder,
                                    const GradientOperands &operands,
                                    const AttentionBlocks &blocks);

/// How many queries share an item's keys and values, along each of [b, n, h];
/// null where they are one's own.
std::array<Value, 5> countSharers(TileBuilder &builder, const LogitShape &shape,
                                  const SharedKeys &shared);

/// A gradient and its parts.
struct PartSumOperands {
  /// [parts, b, n, h, x, y]; [b, n, h, x, y].
  Value parts, sum;
  /// Whether parts are added to what the sum holds.
  bool isAdded = false;
  /// Whether both have whole tiles, with contiguous rows of whole vectors.
  bool areWhole = false;
  /// Where x are the keys of ragged sequences, what says which; no others are
  /// written.
  Value keyStarts = {};
  Most mostKeys = {};

  SmallVector<Value *> present();
};

/// The kernel that adds up parts in their order. Arguments:
/// `operands.present()`. Space: b (sequences), n, h, blocks of x and y.
tile::KernelOp createPartSumKernel(KernelFactory &factory, Location loc,
                                   const PartSumOperands &operands);
SmallVector<Value> getPartSumSpace(TileBuilder &builder,
                                   const PartSumOperands &operands,
                                   tile::TargetAttr target);

tile::KernelOp createDeltaKernel(KernelFactory &factory, Location loc,
                                 const DeltaOperands &operands,
                                 bool alignedRows);
SmallVector<Value> getDeltaSpace(TileBuilder &builder,
                                 const DeltaOperands &operands,
                                 tile::TargetAttr target);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTKERNELS_H
