//===- MatrixRead.h - Transposed reads from LDS -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_MATRIXREAD_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_MATRIXREAD_H

#include "MemoryAccess.h"

namespace mlir::evoformer::tile {

/// Reads a tile of 16-bit elements from LDS by 8x8 matrix reads, transposed
/// (PTX ISA, "ldmatrix"), where the target has them, the layout asks for it
/// and plain reads would be single elements. Nothing where it does not apply.
std::optional<SmallVector<LaneElement>>
readMatrices(LaneBuilder &lane, const Memory &memory, const LaneMap &map,
             RankedTensorType type, ValueRange indices);

/// Reads it across rows of LDS, four at a time ("AMD Instinct CDNA4 Instruction
/// Set Architecture", DS_READ_B64_TR_B16), where the target does so and the
/// layout asks for it. Nothing where it does not apply.
std::optional<SmallVector<LaneElement>>
readAcrossRows(LaneBuilder &lane, const Memory &memory, const LaneMap &map,
               RankedTensorType type, ValueRange indices);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_MATRIXREAD_H
