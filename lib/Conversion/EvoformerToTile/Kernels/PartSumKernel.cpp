//===- PartSumKernel.cpp - Sums of parts in their order -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientKernels.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Of y in a tile.
static constexpr int64_t kColumns = 64;

/// Of x: few, so that sums of few elements have many items. A processor's takes
/// time of its own.
static int64_t getRows(TargetAttr target) { return target.isCPU() ? 16 : 4; }

/// Parts are added one after the other, and several asked for ahead.
static constexpr int64_t kStages = 4;

SmallVector<Value *> PartSumOperands::present() {
  SmallVector<Value *> all = {&parts, &sum, &keyStarts, &mostKeys.value};
  llvm::erase_if(all, [](Value *operand) { return !*operand; });
  return all;
}

SmallVector<Value> evoformer::getPartSumSpace(TileBuilder &builder,
                                              const PartSumOperands &operands,
                                              TargetAttr target) {
  Value sum = operands.sum;
  SmallVector<Value> space;
  for (int64_t dim : {0, 1, 2})
    space.push_back(builder.index(builder.dim(sum, dim)));
  OpFoldResult rows = builder.dim(sum, 3);
  if (operands.keyStarts) {
    LogitShape shape = {{}, sum, {}};
    shape.lengths.queryStarts = shape.lengths.keyStarts = operands.keyStarts;
    space.front() = shape.countBatches(builder, /*ofKeys=*/true);
    rows = operands.mostKeys.get(builder);
  }
  space.push_back(builder.ceilDiv(rows, getRows(target)));
  space.push_back(builder.ceilDiv(builder.dim(sum, 4), kColumns));
  return space;
}

/// The rows of a tile that starts at `first` of all, or of the sequence `item`.
static SliceDim findRows(TileBuilder &builder, const PartSumOperands &operands,
                         Value item, Value first, int64_t numRows) {
  OpFoldResult all = builder.dim(operands.sum, 3);
  if (!operands.keyStarts)
    return {first, builder.remaining(all, first, numRows)};
  Span span = Span::load(builder, operands.keyStarts, item, all,
                         operands.mostKeys.get(builder));
  Value left = arith::MaxSIOp::create(builder, builder.sub(span.length, first),
                                      builder.index(0));
  // Even of a tile without rows the first is one that there is.
  Value last = builder.sub(builder.index(all), builder.index(1));
  Value start =
      arith::MinSIOp::create(builder, builder.add(span.start, first), last);
  return {start, left};
}

KernelOp evoformer::createPartSumKernel(KernelFactory &factory, Location loc,
                                        const PartSumOperands &operands) {
  int64_t numRows = getRows(factory.getTarget());
  auto schedule = ScheduleAttr::get(loc.getContext(), {1, numRows, kColumns},
                                    {1, 1, 1}, kStages);
  return factory.create<PartSumOperands>(
      loc, "sum_parts", operands, schedule,
      [&](TileBuilder &builder, const PartSumOperands &inside) {
        Value parts = inside.parts, sum = inside.sum;
        SmallVector<SliceDim> outer;
        for (int64_t dim : {0, 1, 2})
          outer.push_back(
              {Value(WorkItemIdOp::create(builder, dim)), OpFoldResult()});
        Value row = builder.mul(WorkItemIdOp::create(builder, 3),
                                builder.index(numRows));
        Value column = builder.mul(WorkItemIdOp::create(builder, 4),
                                   builder.index(kColumns));
        SliceDim rows = findRows(
            builder, inside, cast<Value>(outer.front().offset), row, numRows);
        if (inside.keyStarts)
          outer.front().offset = builder.getIndexAttr(0);
        SliceDim columns = {
            column, builder.remaining(builder.dim(sum, 4), column, kColumns)};
        Value zero = builder.index(0);
        Type f32 = builder.getF32Type();
        auto sliceSum = [&] {
          SmallVector<SliceDim> dims = outer;
          dims.append({rows, columns});
          return builder.slice(sum, dims);
        };
        SmallVector<bool> inBounds(inside.areWhole ? 2 : 0, true);
        int64_t alignment = inside.areWhole ? getVectorBytes(kColumns) : 0;
        auto load = [&](TileBuilder &b, Value slice) {
          Type element = cast<MemRefType>(slice.getType()).getElementType();
          return b.convert(b.load(slice, {zero, zero}, {numRows, kColumns},
                                  inBounds, b.getZeroAttr(element), alignment),
                           f32);
        };
        Value start = inside.isAdded
                          ? load(builder, sliceSum())
                          : builder.splat({numRows, kColumns}, f32, 0);
        SmallVector<Value> total = builder.loop(
            zero, builder.index(builder.dim(parts, 0)), builder.index(1), start,
            [&](TileBuilder &b, Value part,
                ValueRange sums) -> SmallVector<Value> {
              SmallVector<SliceDim> dims = {{part, {}}};
              llvm::append_range(dims, outer);
              dims.append({rows, columns});
              return {b.addf(sums[0], load(b, b.slice(parts, dims)))};
            });
        Type element = cast<MemRefType>(sum.getType()).getElementType();
        builder.store(builder.convert(total[0], element), sliceSum(),
                      {zero, zero}, inBounds, alignment);
      });
}
