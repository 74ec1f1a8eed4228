//===- SeenKeys.cpp - Which keys go with which queries --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SeenKeys.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static Value min(TileBuilder &b, Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}
static Value max(TileBuilder &b, Value x, Value y) {
  return arith::MaxSIOp::create(b, x, y);
}
static Value clamp(TileBuilder &b, Value x, Value low, Value high) {
  return min(b, max(b, x, low), high);
}

/// `x`, which is not negative, rounded down to a multiple.
static Value roundDown(TileBuilder &b, Value x, int64_t multiple) {
  if (multiple == 1)
    return x;
  Value factor = b.index(multiple);
  return b.mul(arith::DivUIOp::create(b, x, factor), factor);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Value SeenKeys::getOffset(TileBuilder &b, const Bound &bound) const {
  Value offset =
      b.index(bound.constant - (bound.offset ? KeyOffsets::kZero : 0));
  auto add = [&](int64_t factor, Value size) {
    if (factor != 0)
      offset = factor > 0 ? b.add(offset, size) : b.sub(offset, size);
  };
  add(bound.ofKeys, numKeys);
  add(bound.ofQueries, numQueries);
  if (bound.offset)
    offset = b.add(offset, bound.offset);
  return offset;
}

Value SeenKeys::at(TileBuilder &b, const Bound &bound, Value query) const {
  Value key = getOffset(b, bound);
  if (bound.coefficient)
    key = b.add(roundDown(b, query, bound.granule), key);
  return clamp(b, key, b.index(0), numKeys);
}

Value SeenKeys::firstBeyond(TileBuilder &b, const Bound &bound,
                            Value key) const {
  Value zero = b.index(0);
  Value offset = getOffset(b, bound);
  if (!bound.coefficient) {
    Value isBeyond =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, offset, key);
    return b.select(isBeyond, zero, numQueries);
  }
  // (i floordiv c) * c > key - offset.
  Value query = b.sub(b.add(key, b.index(1)), offset);
  query = b.roundUp(max(b, query, zero), bound.granule);
  return min(b, query, numQueries);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

SeenBlocks SeenKeys::find(TileBuilder &b, LogitDim dim, int64_t block,
                          Value first, Value last, Value isFull) const {
  bool ofKeys = dim == LogitDim::Keys;
  Value size = ofKeys ? numKeys : numQueries;
  // Where the range of an element of the other dimension begins and ends.
  const std::optional<Bound> &begin = ofKeys ? from : to;
  const std::optional<Bound> &end = ofKeys ? to : from;
  auto boundOf = [&](const Bound &bound, Value element) {
    return ofKeys ? at(b, bound, element) : firstBeyond(b, bound, element);
  };
  Value step = b.index(block);
  auto roundedDown = [&](Value x) -> Value {
    return arith::DivUIOp::create(b, x, step);
  };

  SeenBlocks blocks;
  blocks.hasLow = begin.has_value() || isFull;
  blocks.hasHigh = end.has_value() || isExact(dim);
  Value zero = b.index(0), count = b.ceilDiv(size, block);
  Value someBegin = begin ? boundOf(*begin, first) : zero;
  Value someEnd = end ? boundOf(*end, last) : size;
  blocks.begin = begin ? roundedDown(someBegin) : zero;
  Value isAny =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, someBegin, someEnd);
  blocks.end =
      b.select(isAny, end ? b.ceilDiv(someEnd, block) : count, blocks.begin);
  blocks.fullBegin = blocks.begin;
  if (begin)
    blocks.fullBegin = clamp(b, b.ceilDiv(boundOf(*begin, last), block),
                             blocks.begin, blocks.end);
  if (isFull)
    blocks.fullBegin = b.select(isFull, blocks.fullBegin, blocks.end);
  blocks.fullEnd = blocks.end;
  if (!blocks.hasHigh)
    return blocks;
  Value allEnd = end ? boundOf(*end, first) : size;
  Value fullEnd;
  if (isExact(dim)) {
    fullEnd = roundedDown(allEnd);
    blocks.isOneEdge = !begin && !end && !isFull;
  } else {
    // Of the last block elements that do not exist are no matter.
    Value isWhole =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, allEnd, size);
    fullEnd = b.select(isWhole, count, roundedDown(allEnd));
  }
  blocks.fullEnd = clamp(b, fullEnd, blocks.fullBegin, blocks.end);
  return blocks;
}

Value SeenKeys::isSeen(TileBuilder &b, const LogitsTile &tile, Value firstQuery,
                       Value firstKey, bool sumsQueries) const {
  auto type = RankedTensorType::get(tile.shape, b.getI32Type());
  int64_t ofKeys = tile.getPosition(LogitDim::Keys);
  int64_t ofQueries = tile.getPosition(LogitDim::Queries);
  // Differences beyond what positions reach compare as the largest ones do.
  auto makeIota = [&](Value offset, int64_t dim, IntegerAttr minus) -> Value {
    Value limit = b.index(KeyBound::kMaxConstant);
    Value lowest = b.index(-KeyBound::kMaxConstant);
    return IotaOp::create(b, type, clamp(b, offset, lowest, limit), dim, minus);
  };
  Value all;
  auto both = [&](Value condition) {
    all = all ? arith::AndIOp::create(b, all, condition) : condition;
  };
  auto add = [&](const Bound &bound, arith::CmpIPredicate predicate) {
    Value key = b.sub(firstKey, getOffset(b, bound));
    Value query = b.splat(tile.shape, b.getI32Type(), 0);
    IntegerAttr minus;
    if (bound.coefficient && bound.granule == 1) {
      key = b.sub(key, firstQuery);
      minus = b.getI64IntegerAttr(ofQueries);
    } else if (bound.coefficient) {
      query = makeIota(firstQuery, ofQueries, {});
      Value granule = b.splatLike(query, static_cast<double>(bound.granule));
      query = arith::MulIOp::create(
          b, arith::DivUIOp::create(b, query, granule), granule);
    }
    both(arith::CmpIOp::create(b, predicate, makeIota(key, ofKeys, minus),
                               query));
  };
  if (from)
    add(*from, arith::CmpIPredicate::sge);
  if (to)
    add(*to, arith::CmpIPredicate::slt);
  if (exact.keys) {
    Value beyond = makeIota(b.sub(firstKey, numKeys), ofKeys, {});
    both(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, beyond,
                               b.splatLike(beyond, 0)));
  }
  if (exact.queries || (sumsQueries && moves)) {
    Value beyond = makeIota(b.sub(firstQuery, numQueries), ofQueries, {});
    both(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, beyond,
                               b.splatLike(beyond, 0)));
  }
  return all;
}

bool evoformer::growsWith(const KeyRange &range, LogitDim dim) {
  auto moves = [](const std::optional<KeyBound> &bound) {
    return bound && bound->coefficient;
  };
  return dim == LogitDim::Queries ? moves(range.to) && !moves(range.from)
                                  : moves(range.from) && !moves(range.to);
}
