//===- StructuredOp.h - A linalg op as blocks of loops ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOTILE_STRUCTUREDOP_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOTILE_STRUCTUREDOP_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::evoformer::tile {

/// What one output becomes: a value of the body, or the output combined with
/// one.
struct OutputUpdate {
  Value value;
  /// Null where nothing is reduced.
  Operation *combiner = nullptr;
  ReduceKind kind = ReduceKind::Add;
};

/// A linalg op on memrefs that a kernel can do.
struct StructuredOp {
  /// Diagnosed where there is none.
  static FailureOr<StructuredOp> analyze(linalg::LinalgOp op);

  AffineMap getMap(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand);
  }
  bool isReduction(unsigned dim) const {
    return kinds[dim] == utils::IteratorType::reduction;
  }
  bool hasReduction() const {
    return llvm::is_contained(kinds, utils::IteratorType::reduction);
  }
  ScheduleAttr getSchedule() const;

  linalg::LinalgOp op;
  SmallVector<utils::IteratorType> kinds;
  SmallVector<int64_t> sizes;
  /// Of each loop the elements of a tile; 0: the loop is not in the tile.
  SmallVector<int64_t> tile;
  SmallVector<OutputUpdate> outputs;
  /// Values of the function that the body uses.
  SmallVector<Value> captured;
  /// The loops of a matrix product, a's rows, b's columns, the sum.
  struct Product {
    unsigned m, n, k;
  };
  std::optional<Product> product;

private:
  LogicalResult checkMaps();
  LogicalResult checkBody();
  LogicalResult findUpdates();
  void findProduct();
  LogicalResult chooseTile();
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOTILE_STRUCTUREDOP_H
