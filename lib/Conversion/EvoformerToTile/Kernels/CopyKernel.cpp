//===- CopyKernel.cpp - Biases to aligned rows ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

CopyBlocks evoformer::getCopyBlocks(int64_t queryBlock, int64_t keyBlock) {
  // Whole blocks, so that none starts beyond the last query or key.
  return {queryBlock * std::max<int64_t>(1, 16 / queryBlock),
          keyBlock * std::max<int64_t>(1, 64 / keyBlock)};
}

SmallVector<Value> evoformer::getCopySpace(TileBuilder &builder, Value dest,
                                           const CopyBlocks &blocks) {
  SmallVector<Value> space;
  for (int64_t dim : {kBiasB, kBiasN, kBiasH})
    space.push_back(builder.index(builder.dim(dest, dim)));
  space.push_back(builder.ceilDiv(builder.dim(dest, kBiasQ), blocks.queries));
  space.push_back(builder.ceilDiv(builder.dim(dest, kBiasK), blocks.keys));
  return space;
}

KernelOp evoformer::createCopyKernel(KernelFactory &factory, Location loc,
                                     const Bias &source, Value dest,
                                     int64_t alignment,
                                     const CopyBlocks &blocks) {
  auto schedule = ScheduleAttr::get(
      loc.getContext(), {1, blocks.queries, blocks.keys}, {1, 1, 1}, 1);
  return factory.create(
      loc, "copy_bias", {source.memory.getType(), dest.getType()}, schedule,
      [&](TileBuilder &builder, ValueRange arguments) {
        Value query = builder.mul(WorkItemIdOp::create(builder, 3),
                                  builder.index(blocks.queries));
        Value key = builder.mul(WorkItemIdOp::create(builder, 4),
                                builder.index(blocks.keys));
        SmallVector<SliceDim> outer;
        for (int64_t dim : {kBiasB, kBiasN, kBiasH})
          outer.push_back(
              {Value(WorkItemIdOp::create(builder, dim)), OpFoldResult()});

        auto sliceOf = [&](Value memory) {
          SmallVector<SliceDim> dims = outer;
          dims.push_back({query, builder.remaining(builder.dim(memory, kBiasQ),
                                                   query, blocks.queries)});
          dims.push_back({key, builder.remaining(builder.dim(memory, kBiasK),
                                                 key, blocks.keys)});
          return builder.slice(memory, dims);
        };
        // What lies beyond the last query or key is dropped: a NaN of a key
        // that all queries drop must not meet a query that does not.
        Type element =
            cast<MemRefType>(arguments[0].getType()).getElementType();
        TypedAttr dropped =
            isa<FloatType>(element)
                ? TypedAttr(builder.getFloatAttr(
                      element, -std::numeric_limits<double>::infinity()))
                : builder.getZeroAttr(element);
        Value origin = builder.index(0);
        Value tile = builder.load(sliceOf(arguments[0]), {origin, origin},
                                  {blocks.queries, blocks.keys}, {}, dropped);
        Type copied = cast<MemRefType>(arguments[1].getType()).getElementType();
        builder.store(builder.convert(tile, copied), sliceOf(arguments[1]),
                      {origin, origin}, {}, alignment);
      });
}
