//===- HostBuilder.cpp - What host programs are made of -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBuilder.h"

#include "HostArithmetic.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

Value HostBuilder::allocate(ArrayRef<OpFoldResult> sizes, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      dynamic.push_back(cast<Value>(size));
  }
  Value buffer =
      memref::AllocOp::create(builder, MemRefType::get(shape, element), dynamic,
                              builder.getI64IntegerAttr(64));
  buffers.push_back(buffer);
  return buffer;
}

void HostBuilder::freeAll() {
  for (Value buffer : buffers)
    memref::DeallocOp::create(builder, buffer);
  buffers.clear();
}

SmallVector<Value> HostBuilder::sizesOf(Value memref, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) {
    return builder.index(builder.dim(memref, dim));
  });
}

void HostBuilder::launch(TileBuilder &at, KernelOp kernel, ValueRange space,
                         ValueRange arguments) {
  LaunchOp::create(at, kernel.getSymName(), space, arguments);
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

Value HostBuilder::equals(Value value, int64_t expected) {
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value,
                               builder.index(expected));
}
Value HostBuilder::divides(int64_t factor, Value value) {
  return equals(arith::RemUIOp::create(builder, value, builder.index(factor)),
                0);
}
Value HostBuilder::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, a, b);
}

/// Whether the rows of a memref along its innermost dimension start at
/// multiples of `alignment` bytes. Strides of the dimensions in `ignored` are
/// never used. Null: always.
Value HostBuilder::hasAlignedRows(Value memory, int64_t alignment,
                                  ArrayRef<bool> ignored) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  if (alignment <= bytes)
    return {};
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, memory);
  address = builder.add(
      address, builder.mul(metadata.getOffset(), builder.index(bytes)));
  Value all = divides(alignment, address);
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (ignored.empty() || !ignored[dim])
      all = both(all, divides(alignment / bytes, metadata.getStrides()[dim]));
  return all;
}

Value HostBuilder::hasAlignedDepths(ArrayRef<Value> sequences) {
  if (factory.getTarget().getSubgroupSize() == 1)
    return {};
  Value all;
  for (Value memory : sequences) {
    if (!memory)
      continue;
    auto type = cast<MemRefType>(memory.getType());
    int64_t rowBytes =
        type.getDimSize(4) * getElementBytes(type.getElementType());
    all = both(all, hasAlignedRows(memory, getVectorBytes(rowBytes)));
  }
  // Only the depth of what is written may have any stride.
  for (Value memory : sequences) {
    if (!all || !memory || hasUnitStride(memory))
      continue;
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
    all = both(all, equals(metadata.getStrides()[4], 1));
  }
  return all;
}

Value HostBuilder::hasWholeVectors(const Bias &bias, int64_t vectorBytes) {
  auto type = cast<MemRefType>(bias.memory.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  if (factory.getTarget().getSubgroupSize() == 1 || vectorBytes <= bytes)
    return {};
  OpFoldResult keys = builder.dim(bias.memory, kBiasK);
  int64_t width = vectorBytes / bytes;
  std::optional<int64_t> known = getConstantIntValue(keys);
  if (known && *known % width != 0)
    return arith::ConstantIntOp::create(builder, 0, 1);
  Value all = hasAlignedRows(bias.memory, vectorBytes, bias.broadcast);
  if (!known)
    all = both(all, divides(width, builder.index(keys)));
  if (hasUnitStride(bias.memory))
    return all;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, bias.memory);
  return both(all, equals(metadata.getStrides()[kBiasK], 1));
}

void HostBuilder::writeVariants(TileBuilder &at, Value condition,
                                function_ref<void(TileBuilder &, bool)> write) {
  if (std::optional<bool> known = condition ? evaluate(condition) : false)
    return write(at, *known);
  auto variant = [&](bool holds) {
    return [&write, holds](OpBuilder &nested, Location loc) {
      TileBuilder inner(loc, nested);
      write(inner, holds);
      scf::YieldOp::create(inner);
    };
  };
  scf::IfOp::create(at, condition, variant(true), variant(false));
}

void HostBuilder::writeFirst(TileBuilder &at, ArrayRef<Value> conditions,
                             function_ref<void(TileBuilder &, size_t)> write,
                             size_t number) {
  if (conditions.empty())
    return write(at, number);
  writeVariants(at, conditions.front(), [&](TileBuilder &inner, bool holds) {
    holds ? write(inner, number)
          : writeFirst(inner, conditions.drop_front(), write, number + 1);
  });
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

bool evoformer::hasUnitStride(Value memory) {
  int64_t offset;
  SmallVector<int64_t> strides;
  auto type = cast<MemRefType>(memory.getType());
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

Value evoformer::castToUnitStride(TileBuilder &builder, Value memory) {
  int64_t offset;
  SmallVector<int64_t> strides;
  auto type = cast<MemRefType>(memory.getType());
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      !ShapedType::isDynamic(strides.back()))
    return memory;
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  MemRefType result = MemRefType::Builder(type).setLayout(layout);
  return memref::CastOp::create(builder, result, memory);
}
