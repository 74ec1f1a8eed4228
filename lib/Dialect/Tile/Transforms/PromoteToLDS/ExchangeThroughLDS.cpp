//===- ExchangeThroughLDS.cpp - What lanes cannot exchange ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExchangeThroughLDS.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-promote-to-lds";

static bool needsLDS(ConvertLayoutOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<LaneMap> from =
      getLaneMap(cast<RankedTensorType>(op.getSource().getType()));
  FailureOr<LaneMap> to = getLaneMap(type);
  return succeeded(from) && succeeded(to) &&
         !LaneMap::findSources(*from, *to, type.getShape());
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
  Value zero = arith::ConstantIndexOp::create(entry, op.getLoc(), 0);
  Value buffer = AllocLDSOp::create(entry, op.getLoc(), plan.type);
  SmallVector<Value> origin(sourceType.getRank(), zero);
  auto inside =
      b.getDenseBoolArrayAttr(SmallVector<bool>(sourceType.getRank(), true));
  auto alignment = b.getI64IntegerAttr(plan.alignment);
  // Slower subgroups may still read what the last iteration stored.
  if (op->getParentOfType<LoopLikeOpInterface>())
    BarrierOp::create(b);
  StoreOp::create(b, source, buffer, origin, inside, alignment);
  BarrierOp::create(b);
  Value result = LoadOp::create(b, resultType, buffer, origin, inside,
                                /*padding=*/TypedAttr(), alignment);
  if (isBit)
    result = arith::TruncIOp::create(b, op.getType(), result);
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("exchange").category(kPass))
      << remark::metric("lds_bytes", getLDSBytes(plan.type));
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
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
  return success();
}
