//===- HandedTile.cpp - What subgroups leave for each other ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandedTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

HandedTile::HandedTile(TileBuilder &builder, ArrayRef<int64_t> shape,
                       Type element) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto kernel = dyn_cast<KernelOp>(parent);
  if (!kernel)
    kernel = parent->getParentOfType<KernelOp>();
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Attribute space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                               gpu::AddressSpace::Workgroup);
  memory =
      AllocLDSOp::create(entry, builder.getLoc(),
                         MemRefType::get(shape, element, AffineMap(), space));
}

void HandedTile::begin(TileBuilder &b) const {
  BarrierOp::create(b, /*handover=*/true);
}

void HandedTile::store(TileBuilder &b, Value part, Value offset) const {
  int64_t rank = TileBuilder::typeOf(part).getRank();
  SmallVector<Value> indices(rank, b.index(0));
  indices.back() = offset;
  b.store(part, memory, indices, SmallVector<bool>(rank, true));
}

Value HandedTile::take(TileBuilder &b) const {
  BarrierOp::create(b, /*handover=*/true);
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  return b.load(memory, SmallVector<Value>(shape.size(), b.index(0)), shape,
                SmallVector<bool>(shape.size(), true));
}
