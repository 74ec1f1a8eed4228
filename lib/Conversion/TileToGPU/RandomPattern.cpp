//===- RandomPattern.cpp - Random draws on lanes --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "SharedDraws.h"

#include "Evoformer/Dialect/Tile/IR/RandomDraws.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
/// The bits that numbers of columns have: what lanes and subgroups contribute,
/// and what registers do.
struct ColumnBits {
  int64_t ofLanes = 0, ofRegisters = 0;

  ColumnBits(const LaneMap &map, int64_t dim) {
    for (int64_t s = 0, e = map.getNumSubgroups(); s < e; ++s)
      for (int64_t lane = 0, lanes = map.getNumLanes(); lane < lanes; ++lane)
        ofLanes |= map.subgroupOffset(s)[dim] + map.laneOffset(lane)[dim];
    for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r)
      ofRegisters |= map.registerOffset(r)[dim];
  }
};

/// A lane calls the generator once for all columns of a call that it has, as
/// far as it is known which these are, or less often where lanes share calls.
struct RandomPattern : KernelPattern<RandomOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RandomOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    RandomBuilder random(rewriter, op);
    LaneMap map = mapOf(op.getResult());
    SmallVector<Value> kept = drawAll(lane, random, map, op);
    SmallVector<Value> results;
    int64_t size = map.getVectorSize();
    auto type = VectorType::get({size}, rewriter.getI1Type());
    for (int64_t v = 0, e = map.getNumVectors(); v < e; ++v)
      results.push_back(vector::FromElementsOp::create(
          rewriter, loc, type, ArrayRef(kept).slice(v * size, size)));
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  /// Whether each register's element is kept.
  static SmallVector<Value> drawAll(LaneBuilder &lane, RandomBuilder &random,
                                    const LaneMap &map, RandomOp op) {
    auto rowDim = static_cast<int64_t>(op.getRowDim());
    auto columnDim = static_cast<int64_t>(op.getColumnDim());
    Value row = random.toI32(op.getRow());
    Value column = lane.add(random.toI32(op.getColumn()),
                            lane.getPosition(map, columnDim));
    Value firstCall = random.getCall(column);
    if (auto shared = SharedDraws::find(map, op))
      return shared->build(lane, random, row, firstCall);
    row = lane.add(row, lane.getPosition(map, rowDim));
    ColumnBits bits(map, columnDim);
    // The tile's first column may have any bits above its multiple's.
    int64_t multiple = op.getMultiple() & -op.getMultiple();
    int64_t unknown = (bits.ofLanes | -multiple) & kColumnOfCall;
    // Then no sum with what a register contributes carries into its bits.
    bool isApart = (unknown & bits.ofRegisters) == 0;
    Value shift = random.getShift(column);
    std::map<std::pair<int64_t, int64_t>, RandomWords> calls;
    SmallVector<Value> kept;
    for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r) {
      SmallVector<int64_t> offset = map.registerOffset(r);
      int64_t at = offset[columnDim];
      Value rowOf = random.add(row, random.constant(offset[rowDim]));
      if (!isApart) {
        Value all = random.add(column, random.constant(at));
        RandomWords words = random.call(random.getCall(all), rowOf);
        kept.push_back(random.isKept(arith::ShLIOp::create(
            lane.builder, lane.loc, random.chooseWord(words, all),
            random.getShift(all))));
        continue;
      }
      auto [it, isNew] = calls.try_emplace(
          std::pair(offset[rowDim], at / kColumnsOfCall), RandomWords());
      if (isNew)
        it->second = random.call(
            random.add(firstCall, random.constant(at / kColumnsOfCall)), rowOf);
      kept.push_back(random.isKept(alignDraw(lane.builder, random, it->second,
                                             at, unknown, column, shift)));
    }
    return kept;
  }

  /// The word with the draw of a register's column on top; `unknown`: bits of
  /// the lane's first column that are known when the kernel runs.
  static Value alignDraw(OpBuilder &builder, RandomBuilder &random,
                         const RandomWords &words, int64_t at, int64_t unknown,
                         Value first, Value shift) {
    constexpr int64_t kWordBits = 0b110;
    Value word = words[at / 2 % 4];
    if (unknown & kWordBits)
      word = random.chooseWord(words, random.add(first, random.constant(at)));
    if (unknown & 1)
      return arith::ShLIOp::create(builder, word.getLoc(), word, shift);
    if (at & 1)
      return word;
    return arith::ShLIOp::create(builder, word.getLoc(), word,
                                 random.constant(16));
  }
};
} // namespace

void evoformer::tile::populateRandomPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             const KernelContext &kernel) {
  patterns.add<RandomPattern>(converter, patterns.getContext(), kernel);
}
