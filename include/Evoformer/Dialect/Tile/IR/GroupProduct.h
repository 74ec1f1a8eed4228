//===- GroupProduct.h - Products of several subgroups -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_GROUPPRODUCT_H
#define EVOFORMER_DIALECT_TILE_IR_GROUPPRODUCT_H

#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// How workgroup memory holds an operand for instructions of several subgroups.
struct GroupOperand {
  /// Of a panel: 32, 64 or 128, among eight of which pieces of 16 are XORed.
  int64_t rowBytes;
  /// From one panel to the next.
  int64_t panelBytes;
  /// Whether rows go along the contracted dimension.
  bool alongDepth;
};

/// The operand that `type` is, with the contracted dimension `depthDim`;
/// nothing where no such instruction can read it.
std::optional<GroupOperand> matchGroupOperand(MemRefType type,
                                              int64_t depthDim);

/// Where a tile with rows along `contiguousDim` lies so that such instructions
/// can read it, if they can.
std::optional<SharedLayout> getGroupLayout(ArrayRef<int64_t> shape,
                                           int64_t contiguousDim,
                                           int64_t elementBytes);

/// The subgroups along a dimension of a tile.
int64_t countSubgroups(FragAttr layout, int64_t dim);

/// The target's first instruction of several subgroups for products of elements
/// of a type; null: none.
GroupMatrixInstrAttr findGroupInstr(TargetAttr target, Type element);

/// The target's instruction of several subgroups for products of `each`, where
/// `columns` columns of depth `depth` are shared; null: none. `rowSubgroups`
/// are the subgroups along the rows.
GroupMatrixInstrAttr findGroupInstr(TargetAttr target, MatrixInstrAttr each,
                                    int64_t rowSubgroups, int64_t columns,
                                    int64_t depth);

/// The same for a kernel with all its subgroups along the rows; null where its
/// schedule does not use any.
GroupMatrixInstrAttr findGroupInstr(KernelOp kernel, MatrixInstrAttr each,
                                    int64_t rowSubgroups, int64_t columns,
                                    int64_t depth);

/// The same for a product with layouts that is not rarely run; null where these
/// do not fit.
GroupMatrixInstrAttr findGroupInstr(MmaOp mma);

/// Of a product with layouts: the operand that subgroups share, and whether the
/// rows of the other may be read from memory, too.
OpOperand &getSharedOperand(MmaOp mma);
bool canShareRows(MmaOp mma);

/// The same by the layout of the result: each subgroup has rows of one
/// instruction, in order, or the first ones have, and the others none.
bool canShareRows(RankedTensorType result);
/// Whether each subgroup has all columns of the result, in order.
bool hasColumnsInOrder(RankedTensorType result);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_GROUPPRODUCT_H
