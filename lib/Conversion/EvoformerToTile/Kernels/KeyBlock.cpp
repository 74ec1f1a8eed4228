//===- KeyBlock.cpp - The sums of a block of keys over queries ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyBlock.h"

#include "HandedTile.h"

#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

KeyBlock::KeyBlock(const LogitRecompute &shared, const WorkItem &item,
                   bool keysFirst)
    : shared(shared), item(item), keysFirst(keysFirst),
      slices(shared.slice(item)),
      keys(shared.loadKeys(item.builder, item, slices, shared.zero)) {
  if (keysFirst)
    return;
  // Once, for all queries.
  for (Value part : keys.key)
    keys.keyColumns.push_back(transposeLast(item.builder, part));
  for (Value part : keys.value)
    keys.valueColumns.push_back(transposeLast(item.builder, part));
}

std::vector<KeyBlock> KeyBlock::cut(const LogitRecompute &shared,
                                    const WorkItem &item, bool keysFirst) {
  int64_t pieces = shared.blocks.pieces;
  if (pieces == 1)
    return {KeyBlock(shared, item, keysFirst)};
  std::vector<KeyBlock> blocks;
  for (int64_t number = 0; number < pieces; ++number) {
    WorkItem piece = item;
    piece.keys =
        item.keys.part(item.builder, number, shared.blocks.getKeysOfPiece());
    blocks.emplace_back(shared, piece, keysFirst);
  }
  return blocks;
}

void KeyBlock::write(Beside beside) const {
  store(shared, item, sum(beside), &slices, shared.operands.keyGrad,
        shared.operands.valueGrad);
}

void KeyBlock::write(const WorkItem &item,
                     const std::vector<KeyBlock> &blocks) {
  if (blocks.size() == 1)
    return blocks.front().write();
  const LogitRecompute &shared = blocks.front().shared;
  bool keysFirst = blocks.front().keysFirst;
  TileBuilder &builder = item.builder;
  const Sums like = start(builder, shared);
  const size_t size = like.carried().size();
  SmallVector<Value> zeros;
  for (size_t block = 0; block < blocks.size(); ++block)
    llvm::append_range(zeros, like.carried());
  std::vector<LogitRecompute::Slices> slices;
  for (const KeyBlock &block : blocks)
    slices.push_back(block.prepareSlices(builder, shared));
  // A subgroup without keys in the first piece has none in the others.
  SmallVector<Value> sums =
      overQueries(builder, shared, item, keysFirst)
          .skippingIdle({{LogitDim::Keys}})
          .run(builder, zeros,
               [&](TileBuilder &b, const BlockStep &step, ValueRange carried) {
                 LogitRecompute::QueryTiles queries =
                     shared.loadQueries(b, step.item, slices.front(),
                                        step.offset(LogitDim::Queries));
                 SmallVector<Value> next;
                 for (auto [block, slice] : llvm::zip_equal(blocks, slices)) {
                   Sums sums = like.with(carried.take_front(size));
                   carried = carried.drop_front(size);
                   llvm::append_range(
                       next,
                       block.addStep(b, shared, slice, step, queries, sums)
                           .carried());
                 }
                 return next;
               });
  ArrayRef<Value> left = sums;
  for (const KeyBlock &block : blocks) {
    Sums mended = mend(builder, shared, like.with(left.take_front(size)),
                       [&](TileBuilder &b, const LogitRecompute &recompute,
                           const Sums &start) {
                         return block.sumQueries(b, recompute, start);
                       });
    left = left.drop_front(size);
    store(shared, block.item, mended, &block.slices, shared.operands.keyGrad,
          shared.operands.valueGrad);
  }
}

SmallVector<Value> KeyBlock::writeOnce(Beside beside, ValueRange start) const {
  Sums sums = sum(beside, /*isRepeated=*/false, start);
  store(shared, item, sums, &slices, shared.operands.keyGrad,
        shared.operands.valueGrad);
  return sums.beside;
}

KeyBlock::Sums KeyBlock::sum(Beside beside, bool isRepeated,
                             ValueRange start) const {
  return sumWithCare(
      item.builder, shared,
      [&](TileBuilder &b, const LogitRecompute &recompute, const Sums &start) {
        // The value's gradient alone is made again without the others.
        bool isOfValue = recompute.isCareful() && start.key.empty();
        bool isBeside = isRepeated ? !isOfValue : !recompute.isRepeat();
        return sumQueries(b, recompute, start, isBeside ? beside : Beside());
      },
      start);
}

KeyBlock::Sums KeyBlock::sumWithCare(TileBuilder &builder,
                                     const LogitRecompute &shared, SumLoop loop,
                                     ValueRange beside) {
  Sums first = start(builder, shared);
  first.beside = llvm::to_vector(beside);
  Sums sums = loop(builder, shared, first);
  SmallVector<Value> left = std::exchange(sums.beside, {});
  sums = mend(builder, shared, sums, loop);
  sums.beside = std::move(left);
  return sums;
}

KeyBlock::Sums KeyBlock::mend(TileBuilder &builder,
                              const LogitRecompute &shared, const Sums &first,
                              SumLoop loop) {
  const GradientOperands &operands = shared.operands;
  Sums sums = first;
  // An item sums over all queries, of which one may have statistics too large
  // for one number: then it takes the loop with both. What dropout drops is NaN
  // in the key's gradient only.
  if (shared.addsStatistics())
    sums = sums.with(builder.where(
        shared.haveNaN(builder, operands.keyGrad ? sums.key : sums.value),
        sums.carried(), [&](TileBuilder &b) {
          return loop(b, shared.withStatisticsApart(), start(b, shared))
              .carried();
        }));
  // One after the other, which takes fewer registers than both at once.
  if (operands.keyGrad && !shared.choosesDrops() && shared.dropsForQueries())
    sums.key = shared.repeatWithCare(
        builder, sums.key, [&](TileBuilder &b, const LogitRecompute &careful) {
          return loop(b, careful,
                      start(b, shared, /*ofKey=*/true, /*ofValue=*/false))
              .carried();
        });
  if (operands.valueGrad)
    sums.value = sumValuesWithCare(builder, shared, sums.value, loop);
  return sums;
}

KeyBlock::Sums KeyBlock::addCleared(TileBuilder &b, const Sums &sums) const {
  SmallVector<Value> result;
  for (auto [sum, mine] : llvm::zip_equal(
           sums.carried(),
           shared.clearDropped(item, slices, this->sum().carried())))
    // Other rows may be longer.
    result.push_back(b.addf(sum, item.clearAbsent(mine, item.keys)));
  return sums.with(result);
}

void KeyBlock::store(const LogitRecompute &shared, const WorkItem &item,
                     const Sums &sums, const LogitRecompute::Slices *slices,
                     Value keyGrad, Value valueGrad) {
  auto clear = [&](ArrayRef<Value> sums) {
    return slices ? shared.clearDropped(item, *slices, sums)
                  : llvm::to_vector(sums);
  };
  SmallVector<Value> ofKey, ofValue;
  if (keyGrad)
    ofKey = clear(sums.key);
  // Both clear the same keys: read once, before any is stored, where nobody
  // else hides the wait.
  bool clearsFirst = shared.operands.haveOneBlock();
  if (valueGrad && clearsFirst)
    ofValue = clear(sums.value);
  if (keyGrad)
    item.storeParts(ofKey, shared.parts, shared.getProductDerivative(), keyGrad,
                    item.keys);
  if (valueGrad && !clearsFirst)
    ofValue = clear(sums.value);
  if (valueGrad)
    item.storeParts(ofValue, shared.valueParts, shared.getWeightFactor(),
                    valueGrad, item.keys);
}

KeyBlock::Sums KeyBlock::start(TileBuilder &b, const LogitRecompute &shared) {
  return start(b, shared, shared.operands.keyGrad != nullptr,
               shared.operands.valueGrad != nullptr);
}

KeyBlock::Sums KeyBlock::start(TileBuilder &b, const LogitRecompute &shared,
                               bool ofKey, bool ofValue) {
  Sums start;
  int64_t size = shared.blocks.getKeysOfPiece();
  if (ofKey)
    start.key = shared.zeros(b, size, shared.parts);
  if (ofValue)
    start.value = shared.zeros(b, size, shared.valueParts);
  return start;
}

BlockLoop KeyBlock::overQueries(TileBuilder &builder,
                                const LogitRecompute &recompute,
                                const WorkItem &item, bool keysFirst) {
  int64_t steps = recompute.blocks.steps;
  if (recompute.isCareful())
    return BlockLoop::along(builder, LogitDim::Queries,
                            item.withCarefulBlocks(LogitDim::Queries, steps),
                            keysFirst);
  return BlockLoop::along(builder, LogitDim::Queries, item, keysFirst)
      .inParts(LogitDim::Queries, steps);
}

LogitRecompute::Slices
KeyBlock::prepareSlices(TileBuilder &builder,
                        const LogitRecompute &recompute) const {
  LogitRecompute::Slices prepared = slices;
  if (keysFirst && recompute.readsKeysOnce())
    for (BiasSlice *sum : {&prepared.logits.keySum, &prepared.logits.keyStart})
      loadOnce(builder, *sum,
               BlockStep::makeTile(item, keysFirst,
                                   {shared.zero, shared.zero, shared.zero}));
  return prepared;
}

LogitsTile KeyBlock::findTile(TileBuilder &b, const BlockStep &step) const {
  if (shared.blocks.pieces == 1)
    return step.tile;
  WorkItem mine = step.item;
  mine.keys = item.keys;
  LogitsTile tile = BlockStep::makeTile(mine, keysFirst, step.tile.offsets);
  if (step.tile.seen)
    tile.seen = mine.findSeen(b, tile);
  return tile;
}

KeyBlock::Sums KeyBlock::addStep(TileBuilder &b,
                                 const LogitRecompute &recompute,
                                 const LogitRecompute::Slices &slices,
                                 const BlockStep &step,
                                 const LogitRecompute::QueryTiles &queries,
                                 const Sums &sums, Beside beside) const {
  LogitRecompute::Recomputed again =
      recompute.recompute(b, slices, queries, keys, findTile(b, step));
  Value narrow;
  if (!sums.key.empty() || beside)
    narrow = recompute.narrowScoreGrad(b, again);
  Sums next = add(b, recompute, sums, again, narrow, queries);
  if (beside)
    next.beside = beside(b, step, again, narrow, sums.beside);
  return next;
}

KeyBlock::Sums KeyBlock::sumQueries(TileBuilder &outer,
                                    const LogitRecompute &recompute,
                                    const Sums &start, Beside beside) const {
  int64_t parts = recompute.isCareful() ? 1 : shared.blocks.steps;
  LogitRecompute::Slices slices = prepareSlices(outer, recompute);
  // What is beside is so for all of a block.
  std::optional<HandedTile> handed;
  Value startOfBlock;
  auto hand = [&](TileBuilder &b, const BlockStep &step,
                  const LogitRecompute::Recomputed &, Value narrow,
                  ValueRange before) {
    handed->store(b, narrow,
                  b.sub(step.offset(LogitDim::Queries), startOfBlock));
    return llvm::to_vector(before);
  };
  auto add = [&](TileBuilder &b, const BlockStep &step, ValueRange carried) {
    LogitRecompute::QueryTiles queries = recompute.loadQueries(
        b, step.item, slices, step.offset(LogitDim::Queries));
    return addStep(b, recompute, slices, step, queries, start.with(carried),
                   handed ? Beside(hand) : beside)
        .carried();
  };
  BlockLoop loop = overQueries(outer, recompute, item, keysFirst);
  if (beside && parts > 1) {
    assert(keysFirst && "parts lie behind each other");
    handed.emplace(
        outer, ArrayRef{int64_t(1), shared.blocks.keys, shared.blocks.queries},
        shared.facts.elementType);
    BlockLoop::Around around;
    around.before = [&](TileBuilder &b, const BlockStep &step) {
      handed->begin(b);
      startOfBlock = step.offset(LogitDim::Queries);
    };
    around.behind = [&](TileBuilder &b, const BlockStep &step,
                        ValueRange carried) {
      Sums sums = start.with(carried);
      sums.beside = beside(b, step, {}, handed->take(b), sums.beside);
      return sums.carried();
    };
    loop = loop.withAround(std::move(around));
  }
  if (!beside && !recompute.isRepeat())
    loop = loop.skippingIdle({{LogitDim::Keys}});
  return start.with(loop.run(outer, start.carried(), add));
}

KeyBlock::Sums KeyBlock::add(TileBuilder &b, const LogitRecompute &shared,
                             const Sums &sums,
                             const LogitRecompute::Recomputed &again,
                             Value narrow,
                             const LogitRecompute::QueryTiles &queries) const {
  auto withKeysFirst = [&](Value value) {
    return keysFirst ? value : transposeLast(b, value);
  };
  Sums next;
  if (!sums.key.empty())
    next.key = shared.accumulate(b, sums.key, withKeysFirst(narrow),
                                 shared.clearNaN(b, queries.query));
  if (sums.value.empty())
    return next;
  Value weights = withKeysFirst(shared.narrowWeights(b, again.keptWeights));
  if (sums.spoilt.empty()) {
    next.value =
        shared.accumulate(b, sums.value, weights, queries.weightedGrad);
    return next;
  }
  // Apart: what is finite, and the number of what is not among kept keys.
  SmallVector<Value> finite, spoilt;
  for (Value part : queries.weightedGrad) {
    Value isFinite = b.isFinite(part);
    finite.push_back(b.select(isFinite, part, b.splatLike(part, 0)));
    spoilt.push_back(
        b.select(isFinite, b.splatLike(part, 0), b.splatLike(part, 1)));
  }
  Value one = b.splatLike(again.weights, 1);
  Value kept =
      again.dropped ? b.select(again.dropped, b.splatLike(one, 0), one) : one;
  next.value = shared.accumulate(b, sums.value, weights, finite);
  next.spoilt = shared.accumulate(
      b, sums.spoilt, withKeysFirst(b.convert(kept, shared.facts.elementType)),
      spoilt);
  return next;
}

SmallVector<Value> KeyBlock::sumValuesWithCare(TileBuilder &builder,
                                               const LogitRecompute &shared,
                                               ValueRange sums, SumLoop loop) {
  // What the prepared sum drops is cleared where sums are stored. Where GPUs'
  // loops choose, registers do not do for a second one.
  if (!shared.dropsForQueries() ||
      (shared.choosesDrops() && !shared.choosesAll()))
    return llvm::to_vector(sums);
  return shared.repeatWithCare(
      builder, sums, [&](TileBuilder &b, const LogitRecompute &careful) {
        Sums zeros = start(b, shared, /*ofKey=*/false, /*ofValue=*/true);
        zeros.spoilt = zeros.value;
        Sums again = loop(b, careful, zeros);
        SmallVector<Value> result;
        for (auto [sum, spoilt] : llvm::zip_equal(again.value, again.spoilt))
          result.push_back(b.select(
              b.equals(spoilt, 0), sum,
              b.splatLike(sum, std::numeric_limits<double>::quiet_NaN())));
        return result;
      });
}
