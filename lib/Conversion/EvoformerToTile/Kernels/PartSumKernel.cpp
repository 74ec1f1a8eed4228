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

/// Queries and keys of a tile.
static constexpr int64_t kQueries = 16, kKeys = 64;

SmallVector<Value> evoformer::getPartSumSpace(TileBuilder &builder, Value sum) {
  SmallVector<Value> space;
  for (int64_t dim : {kBiasB, kBiasN, kBiasH})
    space.push_back(builder.index(builder.dim(sum, dim)));
  space.push_back(builder.ceilDiv(builder.dim(sum, kBiasQ), kQueries));
  space.push_back(builder.ceilDiv(builder.dim(sum, kBiasK), kKeys));
  return space;
}

KernelOp evoformer::createPartSumKernel(KernelFactory &factory, Location loc,
                                        Value parts, Value sum) {
  auto schedule =
      ScheduleAttr::get(loc.getContext(), {1, kQueries, kKeys}, {1, 1, 1}, 1);
  return factory.create(
      loc, "sum_parts", {parts.getType(), sum.getType()}, schedule,
      [&](TileBuilder &builder, ValueRange arguments) {
        Value parts = arguments[0], sum = arguments[1];
        SmallVector<SliceDim> outer;
        for (int64_t dim : {kBiasB, kBiasN, kBiasH})
          outer.push_back(
              {Value(WorkItemIdOp::create(builder, dim)), OpFoldResult()});
        Value query = builder.mul(WorkItemIdOp::create(builder, kBiasQ),
                                  builder.index(kQueries));
        Value key = builder.mul(WorkItemIdOp::create(builder, kBiasK),
                                builder.index(kKeys));
        SliceDim queries = {query, builder.remaining(builder.dim(sum, kBiasQ),
                                                     query, kQueries)};
        SliceDim keys = {
            key, builder.remaining(builder.dim(sum, kBiasK), key, kKeys)};
        Value zero = builder.index(0);
        Type f32 = builder.getF32Type();
        SmallVector<Value> total = builder.loop(
            zero, builder.index(builder.dim(parts, 0)), builder.index(1),
            builder.splat({kQueries, kKeys}, f32, 0),
            [&](TileBuilder &b, Value part,
                ValueRange sums) -> SmallVector<Value> {
              SmallVector<SliceDim> dims = {{part, {}}};
              llvm::append_range(dims, outer);
              dims.append({queries, keys});
              Value tile = b.load(b.slice(parts, dims), {zero, zero},
                                  {kQueries, kKeys}, {}, b.getZeroAttr(f32));
              return {b.addf(sums[0], tile)};
            });
        SmallVector<SliceDim> dims = outer;
        dims.append({queries, keys});
        Value dest = builder.slice(sum, dims);
        Type element = cast<MemRefType>(sum.getType()).getElementType();
        builder.store(builder.convert(total[0], element), dest, {zero, zero});
      });
}
