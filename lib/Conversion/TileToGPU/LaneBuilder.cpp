//===- LaneBuilder.cpp - What one lane does ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

Value LaneBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

Value LaneBuilder::add(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return builder.createOrFold<arith::AddIOp>(loc, x, y);
}

Value LaneBuilder::mul(Value x, Value y) {
  return builder.createOrFold<arith::MulIOp>(loc, x, y);
}

Value LaneBuilder::minUnsigned(Value x, Value y) {
  return builder.createOrFold<arith::MinUIOp>(loc, x, y);
}

Value LaneBuilder::toI32(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  index);
}

Value LaneBuilder::andI(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return builder.createOrFold<arith::AndIOp>(loc, x, y);
}

Value LaneBuilder::getDigit(Value number, int64_t base, int64_t size) {
  if (base > 1)
    number = builder.createOrFold<arith::DivUIOp>(loc, number, constant(base));
  return builder.createOrFold<arith::RemUIOp>(loc, number, constant(size));
}

Value LaneBuilder::addDigits(Value sum, ArrayRef<LayoutAxis> axes, Value number,
                             int64_t total, int64_t dim) {
  int64_t base = 1;
  for (const LayoutAxis &axis : axes) {
    if (axis.size > 1 && axis.strides[dim] != 0) {
      // The topmost digit needs no remainder.
      Value digit = base * axis.size == total
                        ? (base > 1 ? builder.createOrFold<arith::DivUIOp>(
                                          loc, number, constant(base))
                                    : number)
                        : getDigit(number, base, axis.size);
      sum = add(sum, mul(digit, constant(axis.strides[dim])));
    }
    base *= axis.size;
  }
  return sum;
}

Value LaneBuilder::getPosition(const LaneMap &map, int64_t dim) {
  Value ofLane = addDigits({}, map.lanes, context.lane,
                           context.target.getSubgroupSize(), dim);
  return addDigits(ofLane, map.subgroups, context.subgroup, /*total=*/-1, dim);
}

Value LaneBuilder::getSubgroupPosition(const LaneMap &map, int64_t dim) {
  return addDigits({}, map.subgroups, context.subgroup, /*total=*/-1, dim);
}

Value LaneBuilder::isFirstHolder(const LaneMap &map) {
  Value first;
  auto addAxes = [&](ArrayRef<LayoutAxis> axes, Value number) {
    int64_t base = 1;
    for (const LayoutAxis &axis : axes) {
      if (axis.size > 1 && axis.isReplicated())
        first =
            andI(first, arith::CmpIOp::create(
                            builder, loc, arith::CmpIPredicate::eq,
                            getDigit(number, base, axis.size), constant(0)));
      base *= axis.size;
    }
  };
  addAxes(map.lanes, context.lane);
  addAxes(map.subgroups, context.subgroup);
  return first;
}

SmallVector<LaneElement> LaneBuilder::elementsOf(ValueRange vectors) {
  SmallVector<LaneElement> elements;
  for (Value vector : vectors)
    for (int64_t i = 0, e = cast<VectorType>(vector.getType()).getNumElements();
         i < e; ++i)
      elements.emplace_back(vector, i);
  return elements;
}

Value LaneBuilder::assemble(ArrayRef<LaneElement> elements) {
  auto sourceType = cast<VectorType>(elements.front().first.getType());
  auto type =
      VectorType::get({(int64_t)elements.size()}, sourceType.getElementType());
  SmallVector<Value, 2> sources;
  SmallVector<int64_t> mask;
  bool splat = true;
  for (auto [value, position] : elements) {
    splat &= std::pair(value, position) == elements.front();
    if (!llvm::is_contained(sources, value))
      sources.push_back(value);
  }
  if (sources.size() == 1 && type == sourceType) {
    bool identity = true;
    for (auto [i, element] : llvm::enumerate(elements))
      identity &= element.second == (int64_t)i;
    if (identity)
      return sources.front();
  }
  if (splat) {
    Value scalar = vector::ExtractOp::create(
        builder, loc, elements.front().first, elements.front().second);
    return vector::BroadcastOp::create(builder, loc, type, scalar);
  }
  if (sources.size() <= 2) {
    int64_t firstSize = sourceType.getNumElements();
    for (auto [value, position] : elements)
      mask.push_back(value == sources.front() ? position
                                              : firstSize + position);
    return vector::ShuffleOp::create(builder, loc, sources.front(),
                                     sources.back(), mask);
  }
  SmallVector<Value> scalars;
  for (auto [value, position] : elements)
    scalars.push_back(vector::ExtractOp::create(builder, loc, value, position));
  return vector::FromElementsOp::create(builder, loc, type, scalars);
}

SmallVector<Value> LaneBuilder::pack(ArrayRef<LaneElement> elements,
                                     int64_t size) {
  SmallVector<Value> vectors;
  for (; !elements.empty(); elements = elements.drop_front(size))
    vectors.push_back(assemble(elements.take_front(size)));
  return vectors;
}

//===----------------------------------------------------------------------===//
// Exchange between lanes
//===----------------------------------------------------------------------===//

Value LaneBuilder::exchangeWord(Value word, int64_t mask) {
  Type i32 = builder.getI32Type();
  if (mask == 16 && context.target.hasPermlaneX16()) {
    // Every lane of a row reads the same lane of the other row of 16: the
    // selectors are the identity. "RDNA3 ISA", V_PERMLANEX16_B32.
    Value no =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
    Value yes =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    Value args[] = {word,
                    word,
                    constant(0x76543210),
                    constant(static_cast<int32_t>(0xfedcba98)),
                    yes,
                    no};
    return LLVM::CallIntrinsicOp::create(
               builder, loc, i32,
               builder.getStringAttr("llvm.amdgcn.permlanex16.i32"), args)
        ->getResult(0);
  }
  return gpu::ShuffleOp::create(builder, loc, word, mask,
                                context.target.getSubgroupSize(),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

void LaneBuilder::meetLanes() {
  if (context.target.getTriple().starts_with("nvptx"))
    NVVM::SyncWarpOp::create(builder, loc, constant(-1));
}

Value LaneBuilder::readLane(Value word, int64_t ownBits, int64_t fixedBits) {
  Value number = builder.createOrFold<arith::OrIOp>(
      loc, andI(context.lane, constant(ownBits)), constant(fixedBits));
  return gpu::ShuffleOp::create(builder, loc, word, number,
                                constant(context.target.getSubgroupSize()),
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

Value LaneBuilder::exchange(Value value, int64_t mask) {
  Type type = value.getType();
  Type i32 = builder.getI32Type();
  auto vector = dyn_cast<VectorType>(type);
  int64_t bits = vector
                     ? vector.getNumElements() * vector.getElementTypeBitWidth()
                     : type.getIntOrFloatBitWidth();
  if (bits < 32) {
    // A lone small value travels in a word of its own.
    Type small = builder.getIntegerType(bits);
    Value raw =
        type == small ? value
        : vector
            ? vector::ExtractOp::create(
                  builder, loc,
                  vector::BitCastOp::create(builder, loc,
                                            VectorType::get({1}, small), value),
                  0)
                  .getResult()
            : arith::BitcastOp::create(builder, loc, small, value).getResult();
    Value word =
        exchangeWord(arith::ExtUIOp::create(builder, loc, i32, raw), mask);
    Value back = arith::TruncIOp::create(builder, loc, small, word);
    if (type == small)
      return back;
    if (!vector)
      return arith::BitcastOp::create(builder, loc, type, back);
    return vector::BitCastOp::create(
        builder, loc, type,
        vector::BroadcastOp::create(builder, loc, VectorType::get({1}, small),
                                    back));
  }
  Value whole = value;
  Type elementType = vector ? vector.getElementType() : type;
  if (!vector)
    whole = vector::BroadcastOp::create(
        builder, loc, VectorType::get({1}, elementType), value);
  auto words = VectorType::get({bits / 32}, i32);
  Value raw =
      whole.getType() == words
          ? whole
          : vector::BitCastOp::create(builder, loc, words, whole).getResult();
  SmallVector<Value> exchanged;
  for (int64_t i = 0; i < bits / 32; ++i)
    exchanged.push_back(
        exchangeWord(vector::ExtractOp::create(builder, loc, raw, i), mask));
  Value result = vector::FromElementsOp::create(builder, loc, words, exchanged);
  if (whole.getType() != words)
    result = vector::BitCastOp::create(builder, loc, whole.getType(), result);
  if (vector)
    return result;
  return vector::ExtractOp::create(builder, loc, result, 0);
}
