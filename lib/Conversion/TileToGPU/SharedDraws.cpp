//===- SharedDraws.cpp - Calls that lanes divide between them -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of lanes that differ in one bit, each keeps the half of a word that is of its
// own columns and takes the same half of the other's word in place of what it
// gives away: a step of the transposition of a matrix. Where the number of a
// bit had a bit of the column, it then has one of the lane that made the call.
//
//===----------------------------------------------------------------------===//

#include "SharedDraws.h"
#include "KeptBits.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

SharedDraws::SharedDraws(const LaneMap &map, RandomOp op)
    : map(map), rowDim(op.getRowDim()), columnDim(op.getColumnDim()),
      threshold(op.getThreshold()) {}

std::optional<SharedDraws> SharedDraws::find(const LaneMap &map, RandomOp op) {
  SharedDraws draws(map, op);
  if (!draws.findSharers(op))
    return std::nullopt;
  draws.findCalls();
  auto ofAll = static_cast<int64_t>(draws.calls.size());
  if (draws.getCallsOfLane() == ofAll || !draws.findSteps())
    return std::nullopt;
  return draws;
}

/// Finds the bits of lanes' numbers that are bits of a column within its call.
/// Nothing else but registers may say which of a call's columns a lane has.
bool SharedDraws::findSharers(RandomOp op) {
  int64_t taken = 0;
  auto isTaken = [&](int64_t part) {
    bool result = (taken & part) != 0;
    taken |= part;
    return result;
  };
  for (int64_t bit = 1, lanes = map.getNumLanes(); bit < lanes; bit *= 2) {
    SmallVector<int64_t> offset = map.laneOffset(bit);
    int64_t part = offset[columnDim] & kColumnOfCall;
    if (part == 0)
      continue;
    if (offset[columnDim] != part || !llvm::has_single_bit<uint64_t>(part) ||
        offset[rowDim] != 0 || isTaken(part))
      return false;
    sharers.push_back({bit, part, {}});
  }
  int64_t ofLanes = taken;
  for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r)
    if (map.registerOffset(r)[columnDim] & ofLanes)
      return false;
  for (int64_t s = 0, e = map.getNumSubgroups(); s < e; ++s)
    if (map.subgroupOffset(s)[columnDim] & kColumnOfCall)
      return false;
  return op.getMultiple() % kColumnsOfCall == 0;
}

void SharedDraws::findCalls() {
  for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = map.registerOffset(r);
    calls.emplace_back(offset[rowDim], offset[columnDim] / kColumnsOfCall);
  }
  llvm::sort(calls);
  calls.erase(llvm::unique(calls), calls.end());
}

int64_t SharedDraws::getCallsOfLane() const {
  return llvm::divideCeil(calls.size(), uint64_t(1) << sharers.size());
}

/// Call number i is made by the lane whose sharers' bits are the lowest of i.
/// How far it is from that of the lane with none set must be a sum of what the
/// bits contribute, whichever the rest of i. Lanes that have no call make that
/// of another one.
bool SharedDraws::findSteps() {
  auto size = static_cast<int64_t>(calls.size());
  int64_t lanes = int64_t(1) << sharers.size();
  for (auto [i, sharer] : llvm::enumerate(sharers))
    if (int64_t number = int64_t(1) << i; number < size)
      sharer.step = {calls[number].first - calls[0].first,
                     calls[number].second - calls[0].second};
  for (int64_t number = 0; number < size; ++number) {
    Call expected = calls[number / lanes * lanes];
    for (auto [i, sharer] : llvm::enumerate(sharers))
      if (number >> i & 1) {
        expected.first += sharer.step.first;
        expected.second += sharer.step.second;
      }
    if (expected != calls[number])
      return false;
  }
  return true;
}

/// For each register the bit that it has after the exchange, of all words.
SmallVector<int64_t> SharedDraws::findBits() const {
  SmallVector<int64_t> bits;
  for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = map.registerOffset(r);
    Call served(offset[rowDim], offset[columnDim] / kColumnsOfCall);
    int64_t number = llvm::lower_bound(calls, served) - calls.begin();
    int64_t column = offset[columnDim] & kColumnOfCall;
    for (auto [i, sharer] : llvm::enumerate(sharers))
      column |= (number >> i & 1) * sharer.columnBit;
    int64_t share = number >> sharers.size();
    bits.push_back(share / kCallsOfWord * 32 +
                   getKeptBit(share % kCallsOfWord, column));
  }
  return bits;
}

/// Whether the lane has a sharer's bit; a number.
Value SharedDraws::isSet(LaneBuilder &lane, const Sharer &sharer) const {
  Value shifted = lane.builder.createOrFold<arith::ShRUIOp>(
      lane.loc, lane.context.lane,
      lane.constant(llvm::countr_zero<uint64_t>(sharer.laneBit)));
  return lane.andI(shifted, lane.constant(1));
}

Value SharedDraws::exchange(LaneBuilder &lane, const Sharer &sharer,
                            Value word) const {
  // The bits of columns that have a 0 where the other lane's have a 1, and how
  // far these are apart.
  int64_t apart = getKeptBit(0, sharer.columnBit);
  uint32_t low = 0;
  for (int64_t bit = 0; bit < 32; ++bit)
    if (!(bit & apart))
      low |= uint32_t(1) << bit;
  OpBuilder &builder = lane.builder;
  Value set = arith::CmpIOp::create(builder, lane.loc, arith::CmpIPredicate::ne,
                                    isSet(lane, sharer), lane.constant(0));
  auto choose = [&](int64_t ifSet, int64_t otherwise) -> Value {
    return arith::SelectOp::create(builder, lane.loc, set, lane.constant(ifSet),
                                   lane.constant(otherwise));
  };
  Value mine = choose(static_cast<int32_t>(~low), static_cast<int32_t>(low));
  Value distance = choose(apart, 32 - apart);
  Value other = lane.exchange(word, sharer.laneBit);
  // A rotation: what it brings across the end is of columns that go.
  other = LLVM::FshrOp::create(builder, lane.loc, other, other, distance);
  // An instruction of all targets, which this way keeps its mask.
  Value differing = arith::XOrIOp::create(builder, lane.loc, word, other);
  differing = arith::AndIOp::create(builder, lane.loc, differing, mine);
  return arith::XOrIOp::create(builder, lane.loc, differing, other);
}

SmallVector<Value> SharedDraws::build(LaneBuilder &lane, RandomBuilder &random,
                                      Value row, Value call) const {
  // What the lane contributes is summed first: loops have it behind them.
  Value rowOfLane = lane.getPosition(map, rowDim);
  for (const Sharer &sharer : sharers) {
    auto move = [&](Value start, int64_t step) {
      if (step == 0)
        return start;
      return lane.add(start,
                      lane.mul(isSet(lane, sharer), lane.constant(step)));
    };
    rowOfLane = move(rowOfLane, sharer.step.first);
    call = move(call, sharer.step.second);
  }
  row = lane.add(row, rowOfLane);
  SmallVector<RandomWords> ofLane;
  for (int64_t i = 0, e = getCallsOfLane(); i < e; ++i) {
    auto [rowStep, callStep] = calls[i << sharers.size()];
    ofLane.push_back(random.call(random.add(call, random.constant(callStep)),
                                 random.add(row, random.constant(rowStep))));
  }
  SmallVector<int64_t> bits = findBits();
  SmallVector<Value> kept(bits.size());
  for (ArrayRef<RandomWords> rest = ofLane; !rest.empty();) {
    ArrayRef<RandomWords> some = rest.take_front(kCallsOfWord);
    Value word = packKept(lane, some, threshold);
    for (const Sharer &sharer : sharers)
      word = exchange(lane, sharer, word);
    int64_t first = 32 * (ofLane.size() - rest.size()) / kCallsOfWord;
    auto isHere = [&](int64_t bit) { return bit >= first && bit < first + 32; };
    uint32_t wanted = 0;
    for (int64_t bit : bits)
      if (isHere(bit))
        wanted |= uint32_t(1) << (bit - first);
    SmallVector<Value> unpacked = unpackKept(lane, word, wanted);
    for (auto [value, bit] : llvm::zip_equal(kept, bits))
      if (isHere(bit))
        value = unpacked[bit - first];
    rest = rest.drop_front(some.size());
  }
  return kept;
}
