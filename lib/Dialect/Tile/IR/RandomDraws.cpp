//===- RandomDraws.cpp - What a random tile is made of --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/RandomDraws.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

RandomBuilder::RandomBuilder(OpBuilder &builder, RandomOp op)
    : builder(builder), loc(op.getLoc()),
      threshold(static_cast<int64_t>(op.getThreshold())) {
  Type i32 = builder.getI32Type();
  Value half =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
  auto low = [&](Value wide) -> Value {
    return arith::TruncIOp::create(builder, loc, i32, wide);
  };
  auto high = [&](Value wide) -> Value {
    return low(arith::ShRUIOp::create(builder, loc, wide, half));
  };
  key[0] = low(op.getSeed());
  key[1] = arith::XOrIOp::create(builder, loc, high(op.getSeed()),
                                 high(op.getOffset()));
  offset = low(op.getOffset());
  stream = toI32(op.getStream());
}

Value RandomBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value RandomBuilder::toI32(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  index);
}

Value RandomBuilder::add(Value x, Value y) {
  return builder.createOrFold<arith::AddIOp>(loc, x, y);
}

std::pair<Value, Value> RandomBuilder::multiply(Value x, uint32_t factor) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(value));
  };
  Value wide = arith::ExtUIOp::create(builder, loc, i64, x);
  Value product = arith::MulIOp::create(builder, loc, wide, number(factor));
  Value upper = arith::ShRUIOp::create(builder, loc, product, number(32));
  return {arith::TruncIOp::create(builder, loc, i32, upper),
          arith::TruncIOp::create(builder, loc, i32, product)};
}

RandomWords RandomBuilder::call(Value number, Value row) {
  // Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
  // 3", 2011, section 3.3, with the constants of its table 1.
  constexpr int kRounds = 7;
  constexpr uint32_t kFactors[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kSteps[] = {0x9E3779B9, 0xBB67AE85};
  auto mix = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(builder, loc, x, y);
  };
  RandomWords words = {number, row, stream, offset};
  Value keys[] = {key[0], key[1]};
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0)
      for (auto [each, step] : llvm::zip(keys, kSteps))
        each = arith::AddIOp::create(builder, loc, each, constant(step));
    auto [high0, low0] = multiply(words[0], kFactors[0]);
    auto [high1, low1] = multiply(words[2], kFactors[1]);
    words = {mix(mix(high1, words[1]), keys[0]), low1,
             mix(mix(high0, words[3]), keys[1]), low0};
  }
  return words;
}

Value RandomBuilder::getCall(Value column) {
  return arith::ShRUIOp::create(builder, loc, column, constant(3));
}

Value RandomBuilder::chooseWord(const RandomWords &words, Value column) {
  auto isSet = [&](int64_t bit) -> Value {
    Value masked = arith::AndIOp::create(builder, loc, column, constant(bit));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked,
                                 constant(0));
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return x == y ? x : arith::SelectOp::create(builder, loc, condition, x, y);
  };
  Value isOdd = isSet(2), isUpper = isSet(4);
  return choose(isUpper, choose(isOdd, words[3], words[2]),
                choose(isOdd, words[1], words[0]));
}

Value RandomBuilder::getShift(Value column) {
  Value odd = arith::AndIOp::create(builder, loc, column, constant(1));
  Value sixteen = arith::ShLIOp::create(builder, loc, odd, constant(4));
  return arith::XOrIOp::create(builder, loc, sixteen, constant(16));
}

Value RandomBuilder::isKept(Value word) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, word,
                               constant(threshold << 16));
}
