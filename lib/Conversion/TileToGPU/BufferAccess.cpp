//===- BufferAccess.cpp - A lane's part of a buffer -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "AMD Instinct MI300 Instruction Set Architecture", 'Buffer Addressing', range
// checking of raw buffers: the address is base + the lane's offset + the
// instruction's + the subgroup's; lanes whose offset is not below the records
// read 0 and write nothing. RDNA's compare without the subgroup's offset, so
// records are as many as offsets reach, and lanes that are outside of the
// memory say so by their own offset. Nothing else is outside by accident: what
// would be, leaves the memory as it would by a pointer.
//
//===----------------------------------------------------------------------===//

#include "MemoryAccess.h"

#include "Evoformer/Dialect/Tile/IR/AddressableBytes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// What every chip's instructions hold as an offset of their own, plus one.
static constexpr int64_t kImmediates = 4096;

Value mlir::evoformer::tile::makeBuffer(LaneBuilder &lane, Value base,
                                        unsigned addressSpace) {
  int64_t flags = lane.context.target.getBufferResources();
  if (!flags)
    return {};
  OpBuilder &builder = lane.builder;
  auto constant = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, lane.loc, type,
                                    builder.getIntegerAttr(type, value));
  };
  return ROCDL::MakeBufferRsrcOp::create(
      builder, lane.loc,
      LLVM::LLVMPointerType::get(builder.getContext(), addressSpace), base,
      constant(builder.getI16Type(), 0),
      constant(builder.getI64Type(), kBufferBytes),
      constant(builder.getI32Type(), flags));
}

/// Parts of an access are words, which must be aligned.
bool MemoryAccess::fitsBuffer() const {
  return memory.buffer && llvm::all_of(pieces, [&](const Piece &piece) {
           int64_t bytes = piece.size() * memory.elementBytes;
           return getAlignment(piece) >= std::min<int64_t>(4, bytes);
         });
}

void MemoryAccess::addToBuffer(int64_t d, int64_t reg, int64_t width,
                               Address &address, int64_t &known) {
  OpBuilder &builder = lane.builder;
  if (!inBounds[d] && outside == Outside::Clamp) {
    // What lanes add is the same in every iteration, and so is its clamp.
    Value limit = lane.add(getSize(d),
                           lane.constant(d == memory.contiguous ? -width : -1));
    Value position = positions[d];
    if (reg || !position)
      position = lane.add(position, lane.constant(reg));
    Value bytes = scale(lane.minUnsigned(position, limit), d);
    if (indices[d]) {
      Value index = lane.minUnsigned(indices[d], limit);
      Value left = builder.createOrFold<arith::SubIOp>(lane.loc, limit, index);
      address.subgroupBytes = lane.add(address.subgroupBytes, scale(index, d));
      address.clamps.emplace_back(bytes, scale(left, d));
      return;
    }
    address.laneBytes = lane.add(address.laneBytes, bytes);
    return;
  }
  if (!inBounds[d]) {
    Value room = lane.add(getSize(d), lane.constant(-reg));
    if (indices[d])
      room = builder.createOrFold<arith::SubIOp>(lane.loc, room, indices[d]);
    Value position = positions[d] ? positions[d] : lane.constant(0);
    address.valid =
        lane.andI(address.valid,
                  builder.createOrFold<arith::CmpIOp>(
                      lane.loc, arith::CmpIPredicate::slt, position, room));
  }
  address.subgroupBytes = lane.add(address.subgroupBytes, scale(indices[d], d));
  address.laneBytes = lane.add(address.laneBytes, scale(positions[d], d));
  if (reg == 0)
    return;
  if (memory.strides[d])
    address.subgroupBytes = lane.add(
        address.subgroupBytes, lane.mul(getStrideBytes(d), lane.constant(reg)));
  else
    known += reg * memory.staticStrides[d] * memory.elementBytes;
}

/// What else a lane adds many pieces add alike. So it is added to both sides of
/// a clamp: to the limit, which changes, once for all of these pieces, and to
/// the rest outside of the loop. Of pieces below a word a lane has so many that
/// a sum for each would not find registers.
void MemoryAccess::addClamps(Address &address, int64_t bytes) {
  constexpr int64_t kWord = 4;
  bool isOne = address.clamps.size() == 1 && bytes >= kWord;
  for (auto [given, limit] : address.clamps) {
    Value shared = isOne ? address.laneBytes : Value();
    Value clamped =
        lane.minUnsigned(lane.add(given, shared), lane.add(limit, shared));
    address.laneBytes = isOne ? clamped : lane.add(address.laneBytes, clamped);
  }
}

MemoryAccess::Address MemoryAccess::getInBuffer(const Piece &piece) {
  OpBuilder &builder = lane.builder;
  SmallVector<int64_t> offset = map.registerOffset(piece.front());
  Address address;
  address.pointer = memory.buffer;
  int64_t known = 0;
  for (int64_t d = 0; d < map.rank; ++d) {
    int64_t reg = offset[d];
    if (maxPosition[d] + reg >= shape[d]) {
      // Beyond the tile: padding of the layout.
      if (reg >= shape[d]) {
        address.never = true;
        return address;
      }
      if (positions[d])
        address.valid =
            lane.andI(address.valid,
                      lessThan(positions[d], lane.constant(shape[d] - reg)));
    }
    addToBuffer(d, reg, piece.size(), address, known);
  }
  addClamps(address, piece.size() * memory.elementBytes);
  int64_t immediate = known % kImmediates;
  if (known != immediate)
    address.laneBytes =
        lane.add(address.laneBytes, lane.constant(known - immediate));
  if (!address.laneBytes)
    address.laneBytes = lane.constant(0);
  if (!address.subgroupBytes)
    address.subgroupBytes = lane.constant(0);
  if (address.valid)
    address.laneBytes = arith::SelectOp::create(
        builder, lane.loc, address.valid, address.laneBytes,
        lane.constant(static_cast<int32_t>(kBufferBytes)));
  if (immediate)
    address.laneBytes = lane.add(address.laneBytes, lane.constant(immediate));
  return address;
}
