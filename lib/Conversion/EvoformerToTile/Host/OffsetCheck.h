//===- OffsetCheck.h - What kernels of GPUs can address ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_OFFSETCHECK_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_OFFSETCHECK_H

#include "../Kernels/TileBuilder.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

namespace mlir::evoformer {

/// Operands that have been checked in a block.
using CheckedOperands =
    llvm::DenseSet<std::tuple<Block *, Value, DimOrderAttr>>;

/// A work item finds what it reads of an operand by offsets of 32 bits in
/// bytes, from the first element of its batch, row and head. Refuses operands
/// that `mostBytes` do not reach; where types do not tell, the host program
/// does.
LogicalResult checkOffsets(TileBuilder &builder, AttentionFamilyOpInterface op,
                           int64_t mostBytes, CheckedOperands &checked);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_OFFSETCHECK_H
