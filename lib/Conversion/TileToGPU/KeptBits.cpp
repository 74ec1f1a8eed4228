//===- KeptBits.cpp - Which draws are kept, as bits -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptBits.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// The highest bits of both halves of a word.
static constexpr uint32_t kTops = 0x80008000;

namespace {
class Packer {
public:
  Packer(LaneBuilder &lane, int64_t threshold)
      : lane(lane), threshold(threshold) {}

  Value pack(ArrayRef<RandomWords> calls);

private:
  template <typename OpTy> Value make(Value x, Value y) {
    return OpTy::create(lane.builder, lane.loc, x, y);
  }
  Value constant(uint32_t value) {
    return lane.constant(static_cast<int32_t>(value));
  }
  Value compare(Value word);
  Value compareSaturating(Value word);

  LaneBuilder &lane;
  int64_t threshold;
};
} // namespace

/// Bits 15 and 31: whether the draws of a word reach the threshold.
Value Packer::compare(Value word) {
  // With the highest bit of each half set no half borrows from the other, and
  // what is left of the other 15 bits says whether they suffice.
  auto rest = static_cast<uint32_t>(threshold & 0x7fff);
  Value left = make<arith::SubIOp>(make<arith::OrIOp>(word, constant(kTops)),
                                   constant(rest << 16 | rest));
  Value reached = threshold < 0x8000 ? make<arith::OrIOp>(word, left)
                                     : make<arith::AndIOp>(word, left);
  return make<arith::AndIOp>(reached, constant(kTops));
}

/// The same where an operation saturates in both halves.
Value Packer::compareSaturating(Value word) {
  // As numbers with a sign, whose difference has the right one.
  auto pair = [&](int64_t half) -> Value {
    auto type = VectorType::get({2}, lane.builder.getI16Type());
    return arith::ConstantOp::create(
        lane.builder, lane.loc,
        DenseElementsAttr::get(type, lane.builder.getI16IntegerAttr(half)));
  };
  Value largestDropped = pair(threshold - 1 - 0x8000);
  Value draws =
      LLVM::BitcastOp::create(lane.builder, lane.loc, largestDropped.getType(),
                              make<arith::XOrIOp>(word, constant(kTops)));
  Value left =
      LLVM::BitcastOp::create(lane.builder, lane.loc, word.getType(),
                              make<LLVM::SSubSat>(largestDropped, draws));
  return make<arith::AndIOp>(left, constant(kTops));
}

Value Packer::pack(ArrayRef<RandomWords> calls) {
  bool saturates = lane.context.target.hasPackedI16();
  Value bits;
  for (const RandomWords &words : calls)
    for (Value word : words) {
      Value both = saturates ? compareSaturating(word) : compare(word);
      if (!bits) {
        bits = both;
        continue;
      }
      // In one instruction with the mask, or else with the shift.
      Value shifted = make<arith::ShRUIOp>(bits, constant(1));
      bits = saturates ? make<arith::OrIOp>(shifted, both)
                       : make<arith::AddIOp>(shifted, both);
    }
  int64_t above = 4 * (kCallsOfWord - calls.size());
  return above ? make<arith::ShRUIOp>(bits, constant(above)) : bits;
}

Value evoformer::tile::packKept(LaneBuilder &lane, ArrayRef<RandomWords> calls,
                                int64_t threshold) {
  if (threshold == 0)
    return lane.constant(-1);
  return Packer(lane, threshold).pack(calls);
}

SmallVector<Value> evoformer::tile::unpackKept(LaneBuilder &lane, Value word,
                                               uint32_t wanted) {
  SmallVector<Value> result(32);
  OpBuilder &builder = lane.builder;
  auto isWanted = [&](int64_t bit) { return (wanted >> bit & 1) != 0; };
  if (!lane.context.target.hasCarryConditions()) {
    for (int64_t bit = 0; bit < 32; ++bit)
      if (isWanted(bit))
        result[bit] = arith::CmpIOp::create(
            builder, lane.loc, arith::CmpIPredicate::ne,
            lane.andI(word, lane.constant(int32_t(1u << bit))),
            lane.constant(0));
    return result;
  }
  // What doubling carries out is the highest bit. Halves take turns, so that
  // the next addition need not wait for the last one.
  struct Half {
    Value rest;
    int64_t top, from;
  } halves[] = {{word, 31, 31}, {word, 31, 15}};
  for (int64_t step = 0; step < 16; ++step)
    for (Half &half : halves) {
      int64_t bit = half.from - step;
      if (!isWanted(bit))
        continue;
      if (bit < half.top)
        half.rest = arith::ShLIOp::create(builder, lane.loc, half.rest,
                                          lane.constant(half.top - bit));
      auto twice = arith::AddUIExtendedOp::create(builder, lane.loc, half.rest,
                                                  half.rest);
      result[bit] = twice.getOverflow();
      half = {twice.getSum(), bit - 1, half.from};
    }
  return result;
}
