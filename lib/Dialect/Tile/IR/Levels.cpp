//===- Levels.cpp - What a kernel must be before a pass ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Levels.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

static LogicalResult requireSchedule(KernelOp kernel, StringRef pass) {
  if (kernel.getTarget() && kernel.getSchedule())
    return success();
  return kernel.emitError()
         << pass << " needs kernels with a 'target' and a 'schedule'; '"
         << kernel.getSymName() << "' has no "
         << (kernel.getTarget() ? "schedule" : "target");
}

/// Applies `check` to every tile of the kernel, with the op that makes it.
static LogicalResult
checkTiles(KernelOp kernel, StringRef pass,
           function_ref<LogicalResult(Operation *, RankedTensorType)> check) {
  auto checkAll = [&](Operation *op, TypeRange types) {
    return llvm::all_of(types, [&](Type type) {
      auto tile = dyn_cast<RankedTensorType>(type);
      return !tile || succeeded(check(op, tile));
    });
  };
  auto holdsTiles = [](TypeRange types) {
    return llvm::any_of(types, llvm::IsaPred<RankedTensorType>);
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    bool carries = op->getNumRegions() != 0 && holdsTiles(op->getResultTypes());
    for (Region &region : op->getRegions())
      carries |= holdsTiles(region.getArgumentTypes());
    if (carries && !isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, WhereOp>(op))
      return WalkResult(op->emitError()
                        << pass
                        << " needs tiles to pass through scf.for, scf.if, "
                           "scf.index_switch and evo_tile.where only, not "
                           "through "
                        << op->getName());
    bool good = checkAll(op, op->getResultTypes());
    for (Region &region : op->getRegions())
      good = good && checkAll(op, region.getArgumentTypes());
    return good ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Lanes hold numbers of up to 64 bits.
static LogicalResult checkElement(Operation *op, RankedTensorType tile,
                                  StringRef pass) {
  if (tile.getElementType().isIntOrFloat() &&
      tile.getElementTypeBitWidth() <= 64)
    return success();
  return op->emitError() << pass
                         << " needs tiles of numbers of up to 64 bits, got "
                         << tile;
}

LogicalResult mlir::evoformer::tile::requireTiles(KernelOp kernel,
                                                  StringRef pass) {
  if (failed(requireSchedule(kernel, pass)))
    return failure();
  return checkTiles(kernel, pass, [&](Operation *op, RankedTensorType tile) {
    if (tile.getEncoding())
      return LogicalResult(op->emitError()
                           << pass << " needs tiles without layouts, got "
                           << tile);
    if (tile.getRank() == 0)
      return LogicalResult(op->emitError()
                           << pass << " needs tiles of rank 1 or more, got "
                           << tile);
    return checkElement(op, tile, pass);
  });
}

LogicalResult mlir::evoformer::tile::requireFragments(KernelOp kernel,
                                                      StringRef pass) {
  if (failed(requireSchedule(kernel, pass)))
    return failure();
  int64_t lanes = kernel.getTarget()->getSubgroupSize();
  int64_t subgroups = kernel.getSchedule()->getNumSubgroups();
  llvm::DenseSet<Type> known;
  return checkTiles(kernel, pass, [&](Operation *op, RankedTensorType tile) {
    if (!known.insert(tile).second)
      return success();
    auto layout = dyn_cast_if_present<LayoutAttrInterface>(tile.getEncoding());
    if (!layout)
      return LogicalResult(op->emitError()
                           << pass << " needs tiles with layouts, got " << tile
                           << "; run evo-tile-assign-layouts first");
    FailureOr<LaneMap> map = layout.getLaneMap(
        tile.getShape(), [&] { return op->emitError() << pass << ": "; });
    if (failed(map))
      return failure();
    if (map->getNumLanes() != lanes || map->getNumSubgroups() > subgroups)
      return LogicalResult(
          op->emitError() << pass << " needs layouts for " << lanes
                          << " lanes and at most " << subgroups
                          << " subgroups, got " << map->getNumLanes() << " and "
                          << map->getNumSubgroups() << " in " << tile);
    return checkElement(op, tile, pass);
  });
}

/// Each copy of the block is in the group that follows it.
static LogicalResult checkGroups(Block &block, StringRef pass) {
  SmallVector<AsyncCopyOp> open;
  auto checkClosed = [&](Operation *group) {
    for (AsyncCopyOp copy : open)
      if (!llvm::hasSingleElement(copy->getUsers()) ||
          *copy->getUsers().begin() != group)
        return LogicalResult(copy.emitError()
                             << pass
                             << " needs every evo_tile.async_copy in the next "
                                "evo_tile.async_group of its block, and in no "
                                "other");
    return success();
  };
  for (Operation &op : block) {
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      open.push_back(copy);
    if (!isa<AsyncGroupOp>(op))
      continue;
    if (failed(checkClosed(&op)))
      return failure();
    open.clear();
  }
  return checkClosed(nullptr);
}

LogicalResult mlir::evoformer::tile::requireStaged(KernelOp kernel,
                                                   StringRef pass) {
  if (failed(requireFragments(kernel, pass)))
    return failure();
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (auto convert = dyn_cast<ConvertLayoutOp>(op);
        convert &&
        crossesSubgroups(cast<RankedTensorType>(convert.getSource().getType()),
                         cast<RankedTensorType>(convert.getType())))
      return WalkResult(op->emitError()
                        << pass
                        << " needs what subgroups exchange to pass through "
                           "workgroup memory; run evo-tile-promote-to-lds "
                           "first");
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = kernel.getBody().walk(
      [&](Block *block) { return WalkResult(checkGroups(*block, pass)); });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::evoformer::tile::checkRounding(arith::TruncFOp op) {
  using arith::RoundingMode;
  RoundingMode mode =
      op.getRoundingmode().value_or(RoundingMode::to_nearest_even);
  bool toBF16 = getElementTypeOrSelf(op.getIn().getType()).isF32() &&
                getElementTypeOrSelf(op.getType()).isBF16();
  if (mode == RoundingMode::to_nearest_even ||
      (toBF16 && (mode == RoundingMode::to_nearest_away ||
                  mode == RoundingMode::toward_zero)))
    return success();
  return op.emitOpError("with rounding mode ")
         << stringifyRoundingMode(mode)
         << " is not supported; f32 to bf16 can round to_nearest_even, "
            "to_nearest_away and toward_zero, other types to_nearest_even";
}
