//===- CopyEngine.cpp - Asynchronous copies of a target ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

Value mlir::evoformer::tile::loadPiece(OpBuilder &builder, Location loc,
                                       VectorType type,
                                       const MemoryAccess::Address &address,
                                       int64_t alignment, Value fill) {
  bool single = type.getNumElements() == 1;
  Value value = LLVM::LoadOp::create(
      builder, loc, single ? type.getElementType() : Type(type),
      address.pointer, alignment);
  if (single)
    value = vector::BroadcastOp::create(builder, loc, type, value);
  if (address.valid)
    value = arith::SelectOp::create(builder, loc, address.valid, value, fill);
  return value;
}

void mlir::evoformer::tile::storePiece(OpBuilder &builder, Location loc,
                                       Value value, Value pointer,
                                       int64_t alignment) {
  if (cast<VectorType>(value.getType()).getNumElements() == 1)
    value = vector::ExtractOp::create(builder, loc, value, 0);
  LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
}

std::unique_ptr<CopyEngine>
mlir::evoformer::tile::makeCopyEngine(TargetAttr target) {
  CopyEngineAttr engine = target.getCopyEngine();
  if (!engine)
    return nullptr;
  switch (engine.getKind()) {
  case CopyEngineKind::PerLane:
    return makePerLaneCopies(engine);
  case CopyEngineKind::Consecutive:
    return makeConsecutiveCopies(engine);
  }
  return nullptr;
}
