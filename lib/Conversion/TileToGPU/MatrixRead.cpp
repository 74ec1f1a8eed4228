//===- MatrixRead.cpp - Transposed reads from LDS ---------------*- C++ -*-===//
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

namespace {
/// How an 8x8 matrix lies in a layout: a lane holds two rows (`pair` apart) at
/// one column; lane % 4 moves by `step` rows, lane / 4 by one column.
struct MatrixShape {
  int64_t rowDim, columnDim, pair, step;
};
} // namespace

static std::optional<MatrixShape>
matchMatrix(const Memory &memory, const LaneMap &map, RankedTensorType type) {
  if (!memory.isLDS || memory.elementBytes != 2 || memory.contiguous < 0 ||
      map.registers.empty() || map.getVectorSize() % 2 != 0 ||
      map.lanes.size() != 2 || map.lanes[0].size != 4 || map.lanes[1].size != 8)
    return std::nullopt;
  MatrixShape shape{-1, memory.contiguous, 0, 0};
  const LayoutAxis &pair = map.registers.front();
  for (int64_t d = 0; d < map.rank; ++d) {
    bool isColumn = d == shape.columnDim;
    if (map.lanes[1].strides[d] != (isColumn ? 1 : 0))
      return std::nullopt;
    if (pair.strides[d] == 0)
      continue;
    if (isColumn || shape.rowDim >= 0)
      return std::nullopt;
    shape.rowDim = d;
    shape.pair = pair.strides[d];
  }
  if (shape.rowDim < 0 || pair.size != 2)
    return std::nullopt;
  for (int64_t d = 0; d < map.rank; ++d)
    if (map.lanes[0].strides[d] != 0 && d != shape.rowDim)
      return std::nullopt;
  shape.step = map.lanes[0].strides[shape.rowDim];
  // Rows of a matrix are read whole: 16 bytes, aligned, inside the tile.
  for (int64_t d = 0; d < map.rank; ++d)
    if (map.getBox()[d] > memory.staticSizes[d])
      return std::nullopt;
  if (memory.alignment % 16 != 0 || map.getBox()[shape.columnDim] % 8 != 0)
    return std::nullopt;
  for (const LayoutAxis &axis : map.subgroups)
    if (axis.strides[shape.columnDim] % 8 != 0)
      return std::nullopt;
  return shape;
}

std::optional<SmallVector<LaneElement>>
mlir::evoformer::tile::readMatrices(LaneBuilder &lane, const Memory &memory,
                                    const LaneMap &map, RankedTensorType type,
                                    ValueRange indices) {
  if (!lane.context.target.hasLdmatrix())
    return std::nullopt;
  std::optional<MatrixShape> matrix = matchMatrix(memory, map, type);
  if (!matrix)
    return std::nullopt;
  // A start that is not a multiple of 8 columns would be misaligned.
  if (getConstantIntValue(indices[matrix->columnDim]).value_or(1) % 8 != 0)
    return std::nullopt;

  OpBuilder &builder = lane.builder;
  Location loc = lane.loc;
  auto bytesAt = [&](ArrayRef<int64_t> offset) {
    int64_t bytes = 0;
    for (auto [i, stride] : llvm::zip(offset, memory.staticStrides))
      bytes += i * stride * memory.elementBytes;
    return bytes;
  };
  // The start of the tile and of this subgroup's part.
  Value start =
      lane.add(memory.dynamicBytes, lane.constant(memory.constantBytes));
  LaneMap subgroupsOnly(map.rank);
  subgroupsOnly.subgroups = map.subgroups;
  for (int64_t d = 0; d < map.rank; ++d) {
    int64_t scale = memory.staticStrides[d] * memory.elementBytes;
    Value index =
        lane.add(lane.toI32(indices[d]), lane.getPosition(subgroupsOnly, d));
    start = lane.add(start, lane.mul(index, lane.constant(scale)));
  }
  // Lane l gives the address of row l % 8 of matrix l / 8; that row is the
  // one that lanes 4 * .. + row / 2 hold as register row % 2.
  auto bits = [&](int64_t base, int64_t size) {
    Value digit = lane.context.lane;
    if (base > 1)
      digit =
          builder.createOrFold<arith::DivUIOp>(loc, digit, lane.constant(base));
    return builder.createOrFold<arith::RemUIOp>(loc, digit,
                                                lane.constant(size));
  };
  int64_t rowBytes = memory.staticStrides[matrix->rowDim] * memory.elementBytes;
  start = lane.add(
      start, lane.mul(bits(1, 2), lane.constant(matrix->pair * rowBytes)));
  start = lane.add(
      start, lane.mul(bits(2, 4), lane.constant(matrix->step * rowBytes)));

  int64_t pairs = map.getNumRegisters() / 2;
  SmallVector<LaneElement> elements(map.getNumRegisters());
  Type i32 = builder.getI32Type();
  auto pairType = VectorType::get({2}, type.getElementType());
  for (int64_t p = 0; p < pairs;) {
    auto offsetOf = [&](int64_t index) {
      return bytesAt(map.registerOffset(2 * (p + index)));
    };
    // As many matrices as have offsets linear in the bits of their number.
    int64_t count = 1;
    if (p + 2 <= pairs)
      count = 2;
    if (p + 4 <= pairs &&
        offsetOf(3) - offsetOf(2) == offsetOf(1) - offsetOf(0))
      count = 4;
    Value address = start;
    if (count >= 2)
      address =
          lane.add(address, lane.mul(bits(8, 2),
                                     lane.constant(offsetOf(1) - offsetOf(0))));
    if (count == 4)
      address =
          lane.add(address, lane.mul(bits(16, 2),
                                     lane.constant(offsetOf(2) - offsetOf(0))));
    Value pointer = LLVM::GEPOp::create(
        builder, loc, memory.base.getType(), builder.getI8Type(), memory.base,
        ValueRange{address}, LLVM::GEPNoWrapFlags::inbounds);
    if (int64_t known = offsetOf(0))
      pointer = LLVM::GEPOp::create(
          builder, loc, pointer.getType(), builder.getI8Type(), pointer,
          ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(static_cast<int32_t>(known))},
          LLVM::GEPNoWrapFlags::inbounds);
    Type resultType = i32;
    if (count > 1)
      resultType = LLVM::LLVMStructType::getLiteral(
          builder.getContext(), SmallVector<Type>(count, i32));
    std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" +
                       std::to_string(count) + ".trans.b16.p3";
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
