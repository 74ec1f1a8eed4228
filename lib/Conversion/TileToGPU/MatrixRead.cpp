//===- MatrixRead.cpp - Matrices read from LDS ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixRead.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr int64_t kRowBytes = 16;

/// Whether the whole tile lies in memory: rows are read whole.
static bool isInside(RankedTensorType type, const Memory &memory) {
  return llvm::none_of(llvm::zip(type.getShape(), memory.staticSizes),
                       [](auto sizes) {
                         auto [size, inMemory] = sizes;
                         return size > inMemory;
                       });
}

/// The bytes that an index of a tile in LDS, `offset`, moves by.
static int64_t getBytes(const Memory &memory, ArrayRef<int64_t> offset) {
  int64_t bytes = 0;
  for (auto [i, stride] : llvm::zip(offset, memory.staticStrides))
    bytes += i * stride * memory.elementBytes;
  return bytes;
}

/// Where the tile starts, in bytes; null: 0.
static Value getStart(LaneBuilder &lane, const Memory &memory,
                      ValueRange indices) {
  Value start;
  for (auto [index, stride] : llvm::zip(indices, memory.staticStrides))
    if (getConstantIntValue(index) != 0)
      start = lane.add(start,
                       lane.mul(lane.toI32(index),
                                lane.constant(stride * memory.elementBytes)));
  return start;
}

/// The pointer to `offset` and the `known` bytes in LDS.
static Value getPointer(LaneBuilder &lane, const Memory &memory,
                        LaneOffset offset, int64_t known) {
  auto [address, rest] = applySwizzle(lane, memory.swizzle, offset, known);
  rest += memory.constantBytes;
  Value pointer = memory.base;
  auto advance = [&](LLVM::GEPArg bytes) {
    pointer = LLVM::GEPOp::create(
        lane.builder, lane.loc, pointer.getType(), lane.builder.getI8Type(),
        pointer, ArrayRef<LLVM::GEPArg>{bytes}, LLVM::GEPNoWrapFlags::inbounds);
  };
  if (memory.dynamicBytes)
    advance(memory.dynamicBytes);
  if (address)
    advance(address);
  if (rest)
    advance(static_cast<int32_t>(rest));
  return pointer;
}

std::optional<SmallVector<LaneElement>>
mlir::evoformer::tile::readMatrices(LaneBuilder &lane, const Memory &memory,
                                    const LaneMap &map, RankedTensorType type,
                                    ValueRange indices) {
  if (!lane.context.target.hasLdmatrix())
    return std::nullopt;
  if (!memory.isLDS || memory.alignment % kRowBytes != 0 ||
      (memory.swizzle && memory.swizzle.base < llvm::Log2_64(kRowBytes)))
    return std::nullopt;
  if (!isInside(type, memory))
    return std::nullopt;
  // From a multiple of their width on.
  std::optional<MatrixRead> matrix = matchMatrixRead(
      map, type.getShape(), memory.contiguous, memory.elementBytes);
  if (!matrix || getConstantIntValue(indices[memory.contiguous]).value_or(1) %
                         (kRowBytes / memory.elementBytes) !=
                     0)
    return std::nullopt;

  OpBuilder &builder = lane.builder;
  Location loc = lane.loc;
  Value start = getStart(lane, memory, indices);
  // Lane l gives the address of row l % 8 of matrix l / 8.
  LaneMap rows(map.rank);
  for (ArrayRef<int64_t> bit : matrix->rowBits)
    rows.lanes.push_back({2, SmallVector<int64_t, 4>(bit)});
  rows.subgroups = map.subgroups;
  // Addresses of as many matrices as differ by these numbers of bytes.
  auto getOffset = [&](ArrayRef<int64_t> matrixBits) {
    LaneMap bytes = getByteMap(rows, memory);
    for (int64_t bit : matrixBits)
      bytes.lanes.push_back({2, {bit}});
    if (int64_t idle =
            lane.context.target.getSubgroupSize() / bytes.getNumLanes();
        idle > 1)
      bytes.lanes.push_back({idle, {0}});
    LaneOffset offset = LaneOffset::get(lane, bytes);
    if (start)
      offset = {lane.add(start, offset.bytes), -1};
    return offset;
  };

  int64_t pairs = map.getNumRegisters() / 2;
  SmallVector<LaneElement> elements(map.getNumRegisters());
  Type i32 = builder.getI32Type();
  auto pairType = VectorType::get({2}, type.getElementType());
  for (int64_t p = 0; p < pairs;) {
    auto offsetOf = [&](int64_t index) {
      return getBytes(memory, map.registerOffset(2 * (p + index)));
    };
    // As many matrices as have offsets linear in the bits of their number.
    int64_t count = 1;
    if (p + 2 <= pairs)
      count = 2;
    if (p + 4 <= pairs &&
        offsetOf(3) - offsetOf(2) == offsetOf(1) - offsetOf(0))
      count = 4;
    SmallVector<int64_t, 2> matrixBits;
    for (int64_t other = 1; other < count; other *= 2)
      matrixBits.push_back(offsetOf(other) - offsetOf(0));
    Value pointer =
        getPointer(lane, memory, getOffset(matrixBits), offsetOf(0));
    Type resultType = i32;
    if (count > 1)
      resultType = LLVM::LLVMStructType::getLiteral(
          builder.getContext(), SmallVector<Type>(count, i32));
    std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" +
                       std::to_string(count) +
                       (matrix->transposed ? ".trans" : "") + ".b16.p3";
    Value read = LLVM::CallIntrinsicOp::create(builder, loc, resultType,
                                               builder.getStringAttr(name),
                                               ValueRange{pointer})
                     ->getResult(0);
    for (int64_t i = 0; i < count; ++i) {
      Value word =
          count == 1
              ? read
              : LLVM::ExtractValueOp::create(builder, loc, read, i).getResult();
      Value one = vector::BroadcastOp::create(builder, loc,
                                              VectorType::get({1}, i32), word);
      Value pair = vector::BitCastOp::create(builder, loc, pairType, one);
      elements[2 * (p + i)] = {pair, 0};
      elements[2 * (p + i) + 1] = {pair, 1};
    }
    p += count;
  }
  return elements;
}

std::optional<SmallVector<LaneElement>>
mlir::evoformer::tile::readAcrossRows(LaneBuilder &lane, const Memory &memory,
                                      const LaneMap &map, RankedTensorType type,
                                      ValueRange indices) {
  constexpr int64_t kRows = 4, kPiece = 4, kPieceBytes = 8;
  if (!lane.context.target.hasLDSTranspose() || !memory.isLDS ||
      memory.alignment % kPieceBytes != 0 ||
      (memory.swizzle && memory.swizzle.base < llvm::Log2_64(kPieceBytes)) ||
      !isInside(type, memory))
    return std::nullopt;
  std::optional<LaneMap> read = matchTransposedRead(
      map, type.getShape(), memory.contiguous, memory.elementBytes);
  if (!read ||
      getConstantIntValue(indices[memory.contiguous]).value_or(1) % kPiece != 0)
    return std::nullopt;
  OpBuilder &builder = lane.builder;
  LaneOffset offset = LaneOffset::get(lane, getByteMap(*read, memory));
  if (Value start = getStart(lane, memory, indices))
    offset = {lane.add(start, offset.bytes), -1};
  auto words = VectorType::get({kRows}, builder.getI16Type());
  auto pieceType = VectorType::get({kRows}, type.getElementType());
  SmallVector<LaneElement> elements;
  for (int64_t r = 0, e = map.getNumRegisters(); r < e; r += kRows) {
    Value pointer = getPointer(lane, memory, offset,
                               getBytes(memory, map.registerOffset(r)));
    Value piece =
        LLVM::CallIntrinsicOp::create(
            builder, lane.loc, words,
            builder.getStringAttr("llvm.amdgcn.ds.read.tr16.b64.v4i16"),
            ValueRange{pointer})
            ->getResult(0);
    piece = vector::BitCastOp::create(builder, lane.loc, pieceType, piece);
    for (int64_t row = 0; row < kRows; ++row)
      elements.emplace_back(piece, row);
  }
  return elements;
}
