//===- CopiedWork.h - Elementwise work on the way to LDS --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile that several subgroups read from workgroup memory is copied there
// once: elementwise work on it is done once as well when it is done by the
// copying lanes, which hold every element in one register of one lane.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_COPIEDWORK_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_COPIEDWORK_H

#include "TilesOfSteps.h"

namespace mlir::evoformer::tile {

/// What can be copied in place of the tile that `load` reads: the last value of
/// elementwise work on it through which all its uses go. Other operands of that
/// work are constants and what is computed likewise from loads of the same
/// block. The result of `load` where there is no such value.
Value findCopiedWork(LoadOp load);

/// The ops of the block that compute `work`, `load` excluded, in no order.
SmallVector<Operation *> getWorkOps(Value work, LoadOp load);

/// Whether both compute the same from the same memory, layouts aside.
bool isSameWork(Value a, Value b);

/// Whether `work` of all `steps` can be done before them, on tiles that have
/// those of all of them along `dim`.
bool canWiden(Value work, const FewSteps &steps, int64_t dim);

/// Makes the computation of `work` again with all tiles in `layout`; where
/// there are `steps`, that of all of them, along `dim`.
Value remakeWork(OpBuilder &builder, Value work, Attribute layout,
                 const FewSteps &steps, int64_t dim);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_COPIEDWORK_H
