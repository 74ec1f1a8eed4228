//===- LayoutPatterns.cpp - Between layouts ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {

/// Where the words of a destination come from: for each lane, a lane and a
/// register.
using Sources = std::vector<std::pair<int, int>>;

/// The number of the lane that a lane reads: some bits of its own, the others
/// fixed.
struct ReadLane {
  int64_t ownBits, fixedBits;
};

struct ConvertLayoutPattern : KernelPattern<ConvertLayoutOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ConvertLayoutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    auto type = cast<RankedTensorType>(op.getType());
    LaneMap from = mapOf(op.getSource()), to = mapOf(op.getResult());
    // None crosses subgroups at this level.
    auto sources = LaneMap::findSources(from, to, type.getShape());
    SmallVector<LaneElement> held = lane.elementsOf(adaptor.getSource());
    SmallVector<LaneElement> wanted;
    int64_t width = getWordWidth(type, *sources, to.getNumLanes());
    for (int64_t r = 0, e = to.getNumRegisters(); r < e; r += width)
      appendWord(lane, *sources, r, width, to.getNumLanes(), held, wanted);
    rewriter.replaceOpWithMultiple(op, {lane.pack(wanted, to.getVectorSize())});
    return success();
  }

private:
  /// Registers that travel together in a 32-bit word: 16-bit neighbours that
  /// are neighbours at their source, in every lane.
  static int64_t getWordWidth(RankedTensorType type, const Sources &sources,
                              int64_t lanes) {
    int64_t width = 32 / type.getElementTypeBitWidth();
    int64_t registers = sources.size() / lanes;
    if (width <= 1 || registers % width != 0)
      return 1;
    for (int64_t r = 0; r < registers; r += width)
      for (int64_t l = 0; l < lanes; ++l) {
        auto first = sources[r * lanes + l];
        if (first.first < 0 || first.second % width != 0)
          return 1;
        for (int64_t i = 1; i < width; ++i)
          if (sources[(r + i) * lanes + l] !=
              std::pair(first.first, first.second + (int)i))
            return 1;
      }
    return width;
  }

  /// Appends `width` registers from destination register `reg` on. The lanes
  /// fall into classes of one source register and one lane xor each.
  void appendWord(LaneBuilder &lane, const Sources &sources, int64_t reg,
                  int64_t width, int64_t lanes, ArrayRef<LaneElement> held,
                  SmallVectorImpl<LaneElement> &wanted) const {
    SmallVector<std::pair<int, int>> classes; // xor, register
    SmallVector<uint64_t> members;
    for (int64_t l = 0; l < lanes; ++l) {
      auto [source, from] = sources[reg * lanes + l];
      if (source < 0)
        continue; // padding: anything will do
      std::pair<int, int> key(source ^ (int)l, from);
      auto *it = llvm::find(classes, key);
      if (it == classes.end()) {
        classes.push_back(key);
        members.push_back(0);
        it = classes.end() - 1;
      }
      members[it - classes.begin()] |= 1ull << l;
    }
    if (classes.empty()) {
      classes.push_back({0, 0});
      members.push_back(~0ull);
    }
    // A renaming needs no new value.
    if (classes.size() == 1 && classes.front().first == 0) {
      for (int64_t i = 0; i < width; ++i)
        wanted.push_back(held[classes.front().second + i]);
      return;
    }
    // Packed words are chosen between as i32: one select for all of a word.
    OpBuilder &builder = lane.builder;
    auto packedType = VectorType::get({width}, elementType(held));
    auto wordType = VectorType::get({1}, builder.getI32Type());
    bool packed = width > 1;
    auto getWord = [&](int64_t from) -> Value {
      Value word = lane.assemble(held.slice(from, width));
      if (packed)
        word = vector::ExtractOp::create(
            builder, lane.loc,
            vector::BitCastOp::create(builder, lane.loc, wordType, word), 0);
      return word;
    };
    // RDNA's instruction does not reach the other half of 64 lanes.
    constexpr int64_t kIndexedLanes = 32;
    std::optional<ReadLane> read;
    if (packed && classes.size() > 1 && lanes <= kIndexedLanes &&
        kernel.target.hasIndexedExchange())
      read = findReadLane(sources, reg, lanes);
    Value result;
    if (read) {
      result = lane.readLane(getWord(classes.front().second), read->ownBits,
                             read->fixedBits);
      classes.clear();
    }
    for (auto [i, key] : llvm::enumerate(classes)) {
      Value word = getWord(key.second);
      if (key.first != 0)
        word = lane.exchange(word, key.first);
      result = result
                   ? arith::SelectOp::create(lane.builder, lane.loc,
                                             isMember(lane, members[i], lanes),
                                             word, result)
                         .getResult()
                   : word;
    }
    if (packed)
      result = vector::BitCastOp::create(
          builder, lane.loc, packedType,
          vector::BroadcastOp::create(builder, lane.loc, wordType, result));
    for (int64_t i = 0; i < width; ++i)
      wanted.emplace_back(result, i);
  }

  /// Which lane each lane reads its packed word from, where all read the same
  /// register and every bit of that lane's number is its own or fixed.
  static std::optional<ReadLane> findReadLane(const Sources &sources,
                                              int64_t reg, int64_t lanes) {
    int64_t own = lanes - 1, ones = lanes - 1, zeros = lanes - 1;
    std::optional<int> from;
    for (int64_t l = 0; l < lanes; ++l) {
      auto [source, word] = sources[reg * lanes + l];
      if (from && *from != word)
        return std::nullopt;
      from = word;
      own &= ~(source ^ l);
      ones &= source;
      zeros &= ~source;
    }
    if ((own | ones | zeros) != lanes - 1)
      return std::nullopt;
    return ReadLane{own, ones & ~own};
  }

  static Type elementType(ArrayRef<LaneElement> held) {
    return cast<VectorType>(held.front().first.getType()).getElementType();
  }

  /// Whether this lane is in a set of lanes; a test of one bit where it can be.
  Value isMember(LaneBuilder &lane, uint64_t members, int64_t lanes) const {
    OpBuilder &builder = lane.builder;
    for (int64_t bit = 1; bit < lanes; bit *= 2)
      for (bool set : {false, true}) {
        uint64_t candidates = 0;
        for (int64_t l = 0; l < lanes; ++l)
          if (((l & bit) != 0) == set)
            candidates |= 1ull << l;
        if (candidates != members)
          continue;
        Value masked = builder.createOrFold<arith::AndIOp>(
            lane.loc, kernel.lane, lane.constant(bit));
        return arith::CmpIOp::create(builder, lane.loc,
                                     set ? arith::CmpIPredicate::ne
                                         : arith::CmpIPredicate::eq,
                                     masked, lane.constant(0));
      }
    Type i64 = builder.getI64Type();
    Value mask = arith::ConstantOp::create(builder, lane.loc,
                                           builder.getI64IntegerAttr(members));
    Value number = arith::ExtUIOp::create(builder, lane.loc, i64, kernel.lane);
    Value shifted = arith::ShRUIOp::create(builder, lane.loc, mask, number);
    return arith::TruncIOp::create(builder, lane.loc, builder.getI1Type(),
                                   shifted);
  }
};

} // namespace

void mlir::evoformer::tile::populateLayoutPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const KernelContext &kernel) {
  patterns.add<ConvertLayoutPattern>(converter, patterns.getContext(), kernel);
}
