//===- Tile.h - The evo_tile dialect ----------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TILE_H
#define EVOFORMER_DIALECT_TILE_IR_TILE_H

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"
#include "Evoformer/Dialect/Tile/IR/TargetEntry.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Evoformer/Dialect/Tile/IR/LayoutInterface.h.inc"
#include "Evoformer/Dialect/Tile/IR/TileDialect.h.inc"
#include "Evoformer/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Evoformer/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Evoformer/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "Evoformer/Dialect/Tile/IR/TileOps.h.inc"

namespace mlir::evoformer::tile {

/// The axes of a tile's layout; fails where the type has none or it does not
/// cover the tile.
FailureOr<LaneMap> getLaneMap(RankedTensorType type);

/// Whether lanes that have a tile under the second layout need what lanes of
/// other subgroups have under the first.
bool crossesSubgroups(RankedTensorType from, RankedTensorType to);

/// On a kernel: how many extents its space has, where its launches are
/// elsewhere.
inline constexpr char kNumExtentsAttr[] = "evo_tile.num_extents";

/// On a kernel: how many registers a lane needs by the estimate that its
/// schedule was chosen by (i64).
inline constexpr char kEstimatedRegistersAttr[] =
    "evo_tile.estimated_registers";

/// The extents of a kernel's space, as its launches agree to say; where there
/// is none, as its `evo_tile.num_extents` says, and at least one and as many as
/// it asks for.
FailureOr<int64_t> countExtents(KernelOp kernel, ArrayRef<LaunchOp> launches);

/// The tile's type with another layout.
RankedTensorType withLayout(RankedTensorType type, Attribute layout);

/// True for memory shared by a workgroup (LDS).
bool isWorkgroupMemory(MemRefType type);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_TILE_H
