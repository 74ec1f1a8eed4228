//===- TensorBuilder.h - Tensors of axes ---------------------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that give a tensor other dimensions without moving its elements, and that
// make a tensor of an expression.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_TENSORBUILDER_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_TENSORBUILDER_H

#include "AttentionForm.h"

namespace mlir::evoformer::raising {

/// Whether the dimensions without axes have a static size of 1.
bool hasUnitsOnly(Expr *read);

class TensorBuilder {
public:
  /// `known` are expressions whose tensors tell the sizes of axes.
  TensorBuilder(ExpressionReader &reader, OpBuilder &builder, Location loc,
                ArrayRef<Expr *> known);

  /// Whether `getSize` can tell the sizes of all these.
  bool knowsSizes(ArrayRef<AxisId> axes);

  /// The number of indices that a dimension of these axes has.
  OpFoldResult getSize(ArrayRef<AxisId> axes);

  /// Views dimensions `from` as `to`, of the same axes in the same order.
  Value regroup(Value tensor, Coordinates from, const Coordinates &to);

  /// Whether `compute` has a form for an expression over these axes.
  bool canCompute(Expr *expr, const AxisSet &axes);

  /// A new tensor, one dimension for each of `order`, of coefficient * expr in
  /// `type`; of i1, the negation where the coefficient is negative.
  Value compute(Expr *expr, double coefficient, ArrayRef<AxisId> order,
                Type type);

  /// The same elements in another float type.
  Value convert(Value tensor, Type type);

private:
  bool isLeaf(Expr *read, const AxisSet &axes);
  void collectLeaves(Expr *expr, const AxisSet &axes,
                     llvm::SmallSetVector<Expr *, 4> &leaves);
  void noteSizes(Expr *expr, unsigned depth);
  Value cloneInto(OpBuilder &body, Expr *expr, ArrayRef<AxisId> order,
                  llvm::DenseMap<Expr *, Value> &cloned);
  Value createIndex(OpBuilder &body, const Coordinate &digits,
                    ArrayRef<AxisId> order);
  Value expandTo(Value tensor, ArrayRef<ReassociationIndices> groups,
                 ArrayRef<Coordinate> dims);

  ExpressionReader &reader;
  OpBuilder &builder;
  Location loc;
  /// Where the size of an axis can be read.
  struct Source {
    Value tensor;
    int64_t dim;
    /// What else the dimension holds.
    int64_t divisor;
  };
  llvm::DenseMap<AxisId, Source> sources;
};

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_TENSORBUILDER_H
