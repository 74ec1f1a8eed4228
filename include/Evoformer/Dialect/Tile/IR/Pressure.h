//===- Pressure.h - Registers that tiles need -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_PRESSURE_H
#define EVOFORMER_DIALECT_TILE_IR_PRESSURE_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::evoformer::tile {

/// An estimate of the 32-bit registers of a lane that the loop's tiles need at
/// once; what is computed from what in one step counts with it.
int64_t estimatePressure(scf::ForOp loop);

/// Registers that tiles loaded an iteration ahead may take.
int64_t getPrefetchShare(TargetAttr target);

/// Workgroup memory that is left to each of as many workgroups as the schedule
/// wants resident.
int64_t getLDSShare(TargetAttr target, ScheduleAttr schedule);

/// 32-bit registers per lane that hold a tile.
int64_t getRegisterCount(RankedTensorType tile);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_PRESSURE_H
