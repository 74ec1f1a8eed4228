//===- CopyEngine.cpp - Asynchronous copies of a target ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// An integer, or words, of so many bytes.
static Type getWords(OpBuilder &builder, int64_t bytes) {
  if (bytes <= 4)
    return builder.getIntegerType(8 * bytes);
  return VectorType::get({bytes / 4}, builder.getI32Type());
}

static int64_t getBytes(VectorType type) {
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

static Value loadFromBuffer(OpBuilder &builder, Location loc, VectorType type,
                            const MemoryAccess::Address &address) {
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value words = ROCDL::RawPtrBufferLoadOp::create(
      builder, loc, getWords(builder, getBytes(type)), address.pointer,
      address.laneBytes, address.subgroupBytes, none, ArrayAttr(), ArrayAttr(),
      ArrayAttr());
  return LLVM::BitcastOp::create(builder, loc, type, words);
}

Value mlir::evoformer::tile::loadPiece(OpBuilder &builder, Location loc,
                                       VectorType type,
                                       const MemoryAccess::Address &address,
                                       int64_t alignment, Value fill) {
  bool single = type.getNumElements() == 1;
  Value value;
  if (address.isInBuffer()) {
    value = loadFromBuffer(builder, loc, type, address);
    if (address.valid &&
        (matchPattern(fill, m_PosZeroFloat()) || matchPattern(fill, m_Zero())))
      return value;
  } else {
    value = LLVM::LoadOp::create(builder, loc,
                                 single ? type.getElementType() : Type(type),
                                 address.pointer, alignment);
    if (single)
      value = vector::BroadcastOp::create(builder, loc, type, value);
  }
  if (address.valid)
    value = arith::SelectOp::create(builder, loc, address.valid, value, fill);
  return value;
}

void mlir::evoformer::tile::storePiece(OpBuilder &builder, Location loc,
                                       Value value,
                                       const MemoryAccess::Address &address,
                                       int64_t alignment) {
  auto type = cast<VectorType>(value.getType());
  if (address.isInBuffer()) {
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value words = LLVM::BitcastOp::create(
        builder, loc, getWords(builder, getBytes(type)), value);
    ROCDL::RawPtrBufferStoreOp::create(
        builder, loc, words, address.pointer, address.laneBytes,
        address.subgroupBytes, none, ArrayAttr(), ArrayAttr(), ArrayAttr());
    return;
  }
  if (type.getNumElements() == 1)
    value = vector::ExtractOp::create(builder, loc, value, 0);
  LLVM::StoreOp::create(builder, loc, value, address.pointer, alignment);
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
