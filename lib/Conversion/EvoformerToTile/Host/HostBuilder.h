//===- HostBuilder.h - What host programs are made of -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTBUILDER_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTBUILDER_H

#include "../Kernels/Kernels.h"

namespace mlir::evoformer {

/// Whether the type tells that the innermost stride is 1.
bool hasUnitStride(Value memory);

/// The same memory with an innermost stride of 1 in its type, of which the
/// caller knows that it is; unchanged where the type says otherwise.
Value castToUnitStride(TileBuilder &builder, Value memory);

/// Whether registers are left to read biases of f32 ahead instead of ones of 16
/// bits: at small depths a lane holds more logits.
inline bool holdsWideBiases(int64_t depth) {
  constexpr int64_t kSmallDepth = 16;
  return depth > kSmallDepth;
}

/// The prepared sum of query-independent biases, see AttentionOperands.
struct KeySum {
  Bias sum;
  Value maximum;
};

/// Writes the host side around launches: buffers, guards, prepared biases.
class HostBuilder {
public:
  HostBuilder(TileBuilder &builder, KernelFactory &factory)
      : builder(builder), factory(factory) {}

  /// A buffer until `freeAll`. Vectors of any target may read it whole.
  Value allocate(ArrayRef<OpFoldResult> sizes, Type element);
  void freeAll();

  SmallVector<Value> sizesOf(Value memref, ArrayRef<int64_t> dims);
  void launch(TileBuilder &at, tile::KernelOp kernel, ValueRange space,
              ValueRange arguments);

  /// The sum of all query-independent biases, which also marks the keys beyond
  /// the last one in blocks of `keyBlock`; not needed where there is neither.
  /// Keys behind a row's length, see RowLengths, are none of its maximum; that
  /// they are dropped is the kernels' affair.
  KeySum prepareKeySum(const AttentionFacts &facts, ArrayRef<Bias> biases,
                       const LogitShape &shape, int64_t keyBlock);

  /// Whether the bias of the query, where there is one that rows share, should
  /// be copied as f32, which saves each row to widen it: where the rows are as
  /// many as the target's `widening_rows`, and the copy takes no more memory
  /// than the `output`. Null: no.
  Value shouldWiden(ArrayRef<Bias> biases, const LogitShape &shape,
                    const AttentionFacts &facts, Value output,
                    int64_t keyBlock);

  /// A bias with rows that whole vectors of whole key blocks can read: itself
  /// or, where a guard finds that it has none, a copy; with `widens` a copy of
  /// f32 if rows share it.
  Bias prepareBias(const Bias &bias, OpFoldResult keys, int64_t keyBlock,
                   bool widens = false);

  /// A copy whose queries are contiguous, in whole blocks of both. With
  /// `widens` numbers are of f32, which saves each row to widen them.
  Bias transposeBias(const Bias &bias, OpFoldResult queries, int64_t queryBlock,
                     OpFoldResult keys, int64_t keyBlock, bool widens);

  /// Whether all rows of depths of sequences [b, n, h, s, d] (null ones do not
  /// count) are contiguous and start where whole vectors do. Null: always, or
  /// vectors may lie anywhere, as on the CPU.
  Value hasAlignedDepths(ArrayRef<Value> sequences);

  /// Whether the keys of a bias that is written, [b, n, h, q, k], are
  /// contiguous and whole vectors of so many bytes hold each row of them.
  Value hasWholeVectors(const Bias &bias, int64_t vectorBytes);

  /// Null holds always.
  Value both(Value a, Value b);

  /// Alignment and sizes are never assumed: a guard picks the variant. Of a
  /// known condition there is one; null is false.
  void writeVariants(TileBuilder &at, Value condition,
                     function_ref<void(TileBuilder &, bool)> write);
  /// The variant whose number is that of the first condition which holds; that
  /// behind the last one where none does.
  void writeFirst(TileBuilder &at, ArrayRef<Value> conditions,
                  function_ref<void(TileBuilder &, size_t)> write,
                  size_t number = 0);

private:
  OpFoldResult padded(OpFoldResult size, int64_t block);
  Value expandKeys(const Bias &bias, OpFoldResult keys);
  Value equals(Value value, int64_t expected);
  Value divides(int64_t factor, Value value);
  Value hasAlignedRows(Value memory, int64_t alignment,
                       ArrayRef<bool> ignored = {});
  Value isReadable(const Bias &bias, OpFoldResult keys, int64_t keyBlock);
  void launchCopy(const Bias &bias, Value dest, int64_t alignment,
                  const CopyBlocks &blocks);

  TileBuilder &builder;
  KernelFactory &factory;
  SmallVector<Value> buffers;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTBUILDER_H
