//===- ExchangeThroughLDS.cpp - What lanes cannot exchange ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExchangeThroughLDS.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-promote-to-lds";

static bool needsLDS(ConvertLayoutOp op) {
  return crossesSubgroups(cast<RankedTensorType>(op.getSource().getType()),
                          cast<RankedTensorType>(op.getType()));
}

static LogicalResult convert(KernelOp kernel, ConvertLayoutOp op,
                             TargetAttr target) {
  auto sourceType = cast<RankedTensorType>(op.getSource().getType());
  auto resultType = cast<RankedTensorType>(op.getType());
  if (op->getParentOfType<WhereOp>())
    return op.emitOpError("needs a pass through LDS inside evo_tile.where, "
                          "where subgroups do not wait for each other");
  ImplicitLocOpBuilder b(op.getLoc(), op);
  // Memory holds whole bytes.
  Type element = sourceType.getElementType();
  bool isBit = element.isInteger(1);
  Value source = op.getSource();
  if (isBit) {
    sourceType = sourceType.clone(b.getI8Type());
    resultType = resultType.clone(b.getI8Type());
    source = arith::ExtUIOp::create(b, sourceType, source);
  } else if (!element.isIntOrFloat() ||
             element.getIntOrFloatBitWidth() % 8 != 0) {
    return op.emitOpError("needs a pass through LDS, which holds elements of "
                          "whole bytes, not ")
           << element;
  }
  LDSPlan plan = planExchange(sourceType, resultType, target);
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value buffer = AllocLDSOp::create(entry, op.getLoc(), plan.type);
  // Slower subgroups may still read what the last iteration stored.
  if (mayRunAgain(op))
    BarrierOp::create(b);
  Value result = ExchangeOp::create(b, resultType, source, buffer,
                                    b.getI64IntegerAttr(plan.alignment));
  if (isBit)
    result = arith::TruncIOp::create(b, op.getType(), result);
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("exchange").category(kPass))
      << remark::metric("lds_bytes", getLDSBytes(plan.type));
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// The layout in which lanes hold whole vectors of so many elements of the rows
/// (of the last dimension) that their subgroup has in `map`; none where that is
/// no block of whole rows.
static std::optional<LaneMap> widen(const LaneMap &map, ArrayRef<int64_t> shape,
                                    int64_t width) {
  if (shape.size() < 2)
    return std::nullopt;
  int64_t rank = shape.size(), rowDim = rank - 2, columns = shape.back();
  int64_t lanes = map.getNumLanes(), subgroups = map.getNumSubgroups();
  int64_t rows = shape[rowDim] / subgroups;
  int64_t lanesAlong = std::min(lanes, columns / width);
  if (map.getBox() != shape || rows * subgroups != shape[rowDim] ||
      rows * columns != lanes * map.getNumRegisters() || columns % width != 0 ||
      lanes % lanesAlong != 0 || (columns / width) % lanesAlong != 0 ||
      rows % (lanes / lanesAlong) != 0)
    return std::nullopt;
  for (int64_t subgroup = 0; subgroup < subgroups; ++subgroup)
    for (auto [dim, offset] : llvm::enumerate(map.subgroupOffset(subgroup)))
      if (offset != (int64_t(dim) == rowDim ? subgroup * rows : 0))
        return std::nullopt;
  auto axis = [&](int64_t size, int64_t dim, int64_t stride) {
    LayoutAxis result{size, SmallVector<int64_t, 4>(rank, 0)};
    result.strides[dim] = stride;
    return result;
  };
  int64_t lanesAcross = lanes / lanesAlong;
  LaneMap wide(rank);
  wide.innerAxes = 1;
  wide.registers = {
      axis(width, rank - 1, 1),
      axis(columns / (width * lanesAlong), rank - 1, width * lanesAlong),
      axis(rows / lanesAcross, rowDim, lanesAcross)};
  wide.lanes = {axis(lanesAlong, rank - 1, width),
                axis(lanesAcross, rowDim, 1)};
  wide.subgroups = map.subgroups;
  return wide;
}

/// Lets a store of a loop, or of a workgroup whose stores nobody else hides,
/// write whole vectors where the layout has narrower pieces, each of which
/// would be a transaction of its own.
static void widenStore(KernelOp kernel, StoreOp store, TargetAttr target) {
  constexpr int64_t kVectorBytes = 16;
  auto type = cast<RankedTensorType>(store.getValue().getType());
  FailureOr<LaneMap> map = getLaneMap(type);
  if (failed(map) || isWorkgroupMemory(store.getDestType()) ||
      store->getParentOfType<WhereOp>() ||
      (!store->getParentOfType<LoopLikeOpInterface>() &&
       !isAlone(target, kernel.getSchedule()->getNumSubgroups())) ||
      store.getAlignment().value_or(0) < kVectorBytes ||
      !type.getElementType().isIntOrFloat() ||
      !readsMatrices(target, type.getElementType()))
    return;
  int64_t width = kVectorBytes * 8 / type.getElementTypeBitWidth();
  if (map->contiguousRun(type.getRank() - 1) >= width)
    return;
  std::optional<LaneMap> wide = widen(*map, type.getShape(), width);
  if (!wide)
    return;
  OpBuilder builder(store);
  RankedTensorType wideType =
      withLayout(type, LaneMapAttr::get(builder.getContext(), *wide));
  LDSPlan plan = planExchange(type, wideType, target);
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value buffer = AllocLDSOp::create(entry, store.getLoc(), plan.type);
  Value exchanged =
      ExchangeOp::create(builder, store.getLoc(), wideType, store.getValue(),
                         buffer, builder.getI64IntegerAttr(plan.alignment));
  store.getValueMutable().set(exchanged);
  remark::passed(store.getLoc(),
                 remark::RemarkOpts::name("wide-store").category(kPass))
      << remark::metric("lds_bytes", getLDSBytes(plan.type));
}

/// Gives the reduced dimension to the registers of every subgroup.
static void gather(ReduceOp op) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto result = cast<RankedTensorType>(op.getType());
  int64_t dim = op.getDim();
  FailureOr<LaneMap> map = getLaneMap(source);
  if (failed(map))
    return;
  LaneMap gathered = *map;
  bool isSpread = false;
  for (LayoutAxis &axis : gathered.subgroups) {
    if (axis.size == 1 || axis.strides[dim] == 0)
      continue;
    isSpread = true;
    gathered.registers.push_back(axis);
    axis.strides.assign(axis.strides.size(), 0);
  }
  if (!isSpread)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto layout = LaneMapAttr::get(b.getContext(), gathered);
  Value whole =
      ConvertLayoutOp::create(b, withLayout(source, layout), op.getSource());
  auto slice =
      SliceAttr::get(b.getContext(), dim, source.getDimSize(dim), layout);
  Value reduced =
      ReduceOp::create(b, withLayout(result, slice), op.getKind(), whole, dim);
  op.replaceAllUsesWith(
      ConvertLayoutOp::create(b, result, reduced).getResult());
  op.erase();
}

/// Whether an index is known to be a multiple of `unit`.
static bool isMultipleOf(Value index, int64_t unit) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant % unit == 0;
  if (auto mul = index.getDefiningOp<arith::MulIOp>())
    return isMultipleOf(mul.getLhs(), unit) || isMultipleOf(mul.getRhs(), unit);
  if (auto add = index.getDefiningOp<arith::AddIOp>())
    return isMultipleOf(add.getLhs(), unit) && isMultipleOf(add.getRhs(), unit);
  return false;
}

/// Lays out a buffer to which the kernel itself stores parts of a tile, and of
/// which it then loads all, so that both have few conflicts.
static void layOutHanded(AllocLDSOp alloc, TargetAttr target) {
  LoadOp reader;
  SmallVector<StoreOp> writers;
  auto buffer = cast<MemRefType>(alloc.getType());
  if (!buffer.getLayout().isIdentity() ||
      !buffer.getElementType().isIntOrFloat() ||
      buffer.getElementTypeBitWidth() % 8 != 0)
    return;
  for (Operation *user : alloc->getUsers()) {
    if (auto store = dyn_cast<StoreOp>(user)) {
      writers.push_back(store);
      continue;
    }
    auto load = dyn_cast<LoadOp>(user);
    if (!load || reader)
      return;
    reader = load;
  }
  auto typeOf = [](StoreOp store) {
    return cast<RankedTensorType>(store.getValue().getType());
  };
  if (!reader || writers.empty() ||
      reader.getTileType().getShape() != buffer.getShape() ||
      typeOf(writers.front()).getShape() == buffer.getShape())
    return;
  LDSPlan plan =
      planExchange(typeOf(writers.front()), reader.getTileType(), target);
  int64_t bytes = buffer.getElementTypeBitWidth() / 8;
  // Instructions of several subgroups read rows along either dimension.
  int64_t wantedDim =
      getWantedDim(typeOf(writers.front()), /*sourceDim=*/-1, target);
  if (isGroupOperand(reader))
    if (std::optional<SharedLayout> layout =
            getGroupLayout(buffer.getShape(), wantedDim, bytes)) {
      plan.type = getSharedType(*layout, buffer.getElementType());
      plan.alignment = getRowAlignment(*layout);
    }
  alloc.getResult().setType(plan.type);
  // As its rows are aligned, where a tile starts at such a place of one.
  int64_t contiguous = getContiguousDim(plan.type, buffer.getShape());
  auto setAlignment = [&](auto access) {
    if (isMultipleOf(access.getIndices()[contiguous], plan.alignment / bytes))
      access.setAlignment(plan.alignment);
    else
      access.removeAlignmentAttr();
  };
  setAlignment(reader);
  llvm::for_each(writers, setAlignment);
  remark::passed(alloc.getLoc(),
                 remark::RemarkOpts::name("handed").category(kPass))
      << remark::metric("lds_bytes", getLDSBytes(plan.type));
}

LogicalResult mlir::evoformer::tile::exchangeThroughLDS(KernelOp kernel,
                                                        TargetAttr target) {
  SmallVector<ReduceOp> reductions;
  kernel.walk([&](ReduceOp op) { reductions.push_back(op); });
  for (ReduceOp op : reductions)
    gather(op);
  SmallVector<ConvertLayoutOp> conversions;
  kernel.walk([&](ConvertLayoutOp op) {
    if (needsLDS(op))
      conversions.push_back(op);
  });
  for (ConvertLayoutOp op : conversions)
    if (failed(convert(kernel, op, target)))
      return failure();
  kernel.walk([&](AllocLDSOp alloc) { layOutHanded(alloc, target); });
  SmallVector<StoreOp> stores;
  kernel.walk([&](StoreOp op) { stores.push_back(op); });
  for (StoreOp op : stores)
    widenStore(kernel, op, target);
  return success();
}
