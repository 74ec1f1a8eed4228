//===- AttentionKernel.cpp - Attention as a loop over key blocks ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLoop.h"
#include "Dropout.h"
#include "Kernels.h"
#include "Truncation.h"
#include "WeightScale.h"
#include "WeightedValues.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

using Predicate = arith::CmpFPredicate;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The largest sum of the weights of a row that leaves room for each of them,
/// times a factor, in the type, and for products with values in f32.
static constexpr double kLargestSum = 0x1p64;
static double getLargestSum(Type elementType, double factor) {
  return elementType.isF16() ? 65504 / factor : kLargestSum;
}

SmallVector<Value, 4> evoformer::getAttentionSpace(
    TileBuilder &builder, const AttentionOperands &operands,
    const AttentionBlocks &blocks, const KeyRange &keys) {
  LogitShape shape = operands.getShape();
  SpaceOrder order = SpaceOrder::of(keys);
  SmallVector<Value, 4> space(4);
  space[order.batch] = shape.countBatches(builder, /*ofKeys=*/false);
  space[order.rows] = builder.ceilDiv(shape.size(builder, kBiasN), blocks.rows);
  space[order.head] = builder.index(shape.size(builder, kBiasH));
  space[order.blocks] =
      builder.ceilDiv(shape.size(builder, kBiasQ), blocks.queries);
  return space;
}

/// Of rows without a key so far, what is added to exponents. Finite: -inf plus
/// this is -inf. Of rows with keys it is smaller, or NaN. Negated, it is that
/// of rows whose keys, of which the prepared sum has kept some, are all lost.
static constexpr double kNoKey = 0x1p126, kLostKeys = -kNoKey;

/// By how much exponents pass a raised reference before that is raised again:
/// weights of that size and their sums are far from the ends of any type.
static constexpr double kMostRaised = 8;

/// The sum of a block's weights above which a row is rescaled. From there to
/// the end of f32 the next block may grow.
static constexpr double kLargeWeights = 0x1p24;

/// The lowest reference, as an exponent, of rows that are rescaled: first keys
/// below it, masked ones for instance, hardly count beside usual ones. A row
/// whose weights add up to less than this has too few digits.
static constexpr double kLeastReference = -64, kLeastWeights = 0x1p-80;

namespace {
/// What the weights of a row are relative to while its keys are looped over.
enum class Reference {
  /// The running maximum of its logits, to which all is rescaled.
  Running,
  /// The maximum of the first block that has a key of the row. Where later
  /// logits are so much larger that sums leave the type's range, the row is
  /// done again with a running maximum.
  First,
  /// The same until a block has much larger ones, then its maximum, to which
  /// all is rescaled. Costs a maximum a logit, where others would do many rows
  /// again.
  Raised,
  /// The same until the weights of a block are large, of which their sum tells,
  /// then such a one that their sum is 2. For types that hold large weights.
  /// First keys that are very low do not set it.
  Rescaled,
};

/// The kernel's program: softmax(logits) * values with a running sum and
/// reference (Milakov and Gimelshein, "Online normalizer calculation for
/// softmax", 2018; Rabe and Staats, "Self-attention does not need O(n^2)
/// memory", 2021).
class AttentionProgram {
public:
  AttentionProgram(TileBuilder &builder, const AttentionFacts &facts,
                   const AttentionOperands &operands,
                   const AttentionBlocks &blocks, bool alignedRows,
                   bool fastRounding, double weightScale, Drops drops,
                   Reference reference, bool mayStart, bool losesInfinities,
                   bool copiesPast, int64_t lanes)
      : builder(builder), facts(facts), operands(operands), blocks(blocks),
        unit(getLogitUnit(facts)), fastRounding(fastRounding),
        weightScale(weightScale), drops(drops), reference(reference),
        startsFromBiases(mayStart && reference != Reference::Running),
        losesInfinities(losesInfinities), copiesPast(copiesPast), lanes(lanes),
        parts(cutDepth(facts.elementType, facts.depth)),
        valueParts(cutDepth(facts.elementType, facts.valueDepth)),
        item(WorkItem::find(builder, alignedRows, operands.getShape(), blocks,
                            facts.keys)
                 .withSharedKeys(facts.shared)),
        zero(builder.index(0)),
        dropout(builder, facts, operands.dropout, operands.getShape()) {}

  void write() {
    Sources sources = findSources();
    bool hasBiases = !operands.biases.empty();
    State state = loopOverKeys(builder, sources, item, drops, reference);
    bool mayHideNaN = (hasBiases || losesInfinities) && drops == Drops::Added;
    if (reference != Reference::Running || mayHideNaN)
      state =
          repeatWithCare(sources, state, mayHideNaN ? Drops::Chosen : drops);
    if (item.queries.mayEndEarly())
      forgetAbsent(state);
    // Of the tail alone no row is empty, unless it is all that a range leaves.
    bool mayBeEmpty = !operands.keySum.isTail || !facts.keys.isWhole();
    if (!hasBiases && !mayHideNaN && operands.keySum.memory && mayBeEmpty)
      forgetDropped(sources, state);
    finish(state);
  }

private:
  /// Of the queries of a tile: weighted sums of values [rows, queries, part of
  /// dv], maximum of the logits, or what the weights are relative to (-inf:
  /// without a key), and sum of the weights [rows, queries].
  struct State {
    SmallVector<Value> outputs;
    Value maximum, sum;

    static State of(ValueRange carried) {
      return {llvm::to_vector(carried.drop_back(2)), carried.end()[-2],
              carried.back()};
    }
    SmallVector<Value> carried() const {
      SmallVector<Value> all(outputs);
      all.append({maximum, sum});
      return all;
    }
  };

  /// What all iterations read.
  struct Sources {
    SmallVector<Value> queries;
    Value keys, values;
    LogitsSlices logits;
  };

  Sources findSources() {
    Sources sources;
    Value querySlice = item.sliceSequence(operands.query, item.queries);
    for (DepthPart part : parts)
      sources.queries.push_back(
          item.load(builder, querySlice, zero, item.queries, part));
    sources.keys = item.sliceSequence(operands.key, item.keys);
    sources.values = item.sliceSequence(operands.value, item.keys);
    sources.logits = item.sliceLogits(facts, operands.keySum, operands.biases,
                                      operands.captures, operands.getShape(),
                                      /*fillsZeros=*/copiesPast);
    return sources;
  }

  State loopOverKeys(TileBuilder &b, Sources sources, const WorkItem &item,
                     Drops drops, Reference reference) {
    bool isRunning = reference == Reference::Running;
    // Else a NaN of a dropped key makes the sum NaN, after which it is cleared:
    // that costs the usual case nothing.
    bool clears = isRunning && sources.logits.keySum.memory;
    if (!isRunning && startsFromBiases)
      sources.logits = sources.logits.startingFromBiases();
    sources.logits.drops = drops;
    const LogitsSlices &ofLogits = sources.logits;
    SmallVector<int64_t, 2> rowShape = {blocks.rows, blocks.queries};
    Type f32 = b.getF32Type();
    State start;
    for (DepthPart part : valueParts)
      start.outputs.push_back(
          b.splat({blocks.rows, blocks.queries, part.size}, f32, 0));
    start.maximum = b.splat(rowShape, f32, isRunning ? -kInfinity : kNoKey);
    start.sum = b.splat(rowShape, f32, 0);
    BlockLoop loop = BlockLoop::along(b, LogitDim::Keys, item);
    if (!item.isCareful)
      loop = loop.skippingIdle({{LogitDim::Queries}});
    State end = State::of(loop.run(
        b, start.carried(),
        [&](TileBuilder &b, const BlockStep &step, ValueRange carried) {
          Value key = step.offset(LogitDim::Keys);
          auto ks = llvm::map_to_vector(parts, [&](DepthPart part) {
            Value k = item.load(b, sources.keys, key, step.item.keys, part);
            return clears ? item.clearDropped(b, sources.logits.keySum, k, key)
                          : k;
          });
          auto vs = llvm::map_to_vector(valueParts, [&](DepthPart part) {
            return item.load(b, sources.values, key, step.item.keys, part);
          });
          Value start = startOf(b, ofLogits, step.tile), scores;
          for (auto [query, k] : llvm::zip(sources.queries, ks)) {
            Value some =
                multiplyTransposed(b, query, k, scores ? Value() : start);
            scores = scores ? b.addf(scores, some) : some;
          }
          Value logits = buildLogits(b, ofLogits, step.tile, scores);
          Value kept = dropout ? dropout.findKept(b, ofLogits.place, step.tile)
                               : Value();
          State before = State::of(carried);
          if (isRunning)
            return update(b, before, logits, kept, vs).carried();
          before = reference == Reference::Raised
                       ? raise(b, before, logits, ofLogits.unit)
                       : findFirst(b, before, logits, ofLogits, step.tile);
          return add(b, before, logits, kept, ofLogits.unit, vs).carried();
        }));
    if (isRunning)
      return end;
    if (reference == Reference::Rescaled)
      end = rescaleSmall(b, end);
    Value offset = end.maximum;
    end.maximum = b.select(hasNoKey(b, offset), b.splatLike(offset, -kInfinity),
                           b.mulf(offset, b.splatLike(offset, -1 / unit)));
    if (marksLostRows())
      end.sum = b.select(onlyPresent(b.equals(offset, kLostKeys)),
                         splatNaN(b, end.sum), end.sum);
    return end;
  }

  /// Where a sum is NaN or too large, does all again with a running maximum,
  /// and looks at every bias before it adds it: a key may hold a NaN that only
  /// a bias of the query drops, or a query without keys; and products may have
  /// made NaN of an infinity. This costs the usual case nothing, while choosing
  /// costs it three instructions a logit. A row without keys has the sum 0; any
  /// other has a weight of its first keys that is not.
  State repeatWithCare(const Sources &sources, State state, Drops drops) {
    WorkItem careful = item.withCarefulBlocks(LogitDim::Keys);
    Value isOutside =
        builder.compare(Predicate::UGT, state.sum,
                        reference == Reference::First
                            ? getLargestSum(facts.elementType, weightScale)
                            : kLargestSum);
    // What is rescaled by 0 leaves no trace in the sum.
    if (mayRaise())
      isOutside = arith::OrIOp::create(builder, isOutside, hasOverflown(state));
    if (mayRaise() && startsFromBiases)
      isOutside = arith::OrIOp::create(builder, isOutside, hasFewDigits(state));
    if (mayLoseKeys() && !marksLostRows())
      isOutside = arith::OrIOp::create(builder, isOutside,
                                       findLostRows(sources, state));
    return State::of(
        builder.where(isOutside, state.carried(), [&](TileBuilder &b) {
          return loopOverKeys(b, sources, careful, drops, Reference::Running)
              .carried();
        }));
  }

  /// Rows in which products of large weights and values may have left f32.
  Value hasOverflown(const State &state) {
    Value sizes;
    for (Value output : state.outputs) {
      Value some = builder.reduce(ReduceKind::Add,
                                  math::AbsFOp::create(builder, output), 2);
      sizes = sizes ? builder.addf(sizes, some) : some;
    }
    return builder.compare(Predicate::UGT, sizes, 0x1p126);
  }

  /// Rows whose largest logits are too large for products that start from
  /// biases; of the others what is too large has no weight.
  Value hasFewDigits(const State &state) {
    Value size = math::AbsFOp::create(builder, state.maximum);
    Value isLarge = builder.compare(Predicate::OGE, size, kLargestStart / unit);
    return arith::AndIOp::create(
        builder, isLarge, builder.compare(Predicate::OLT, size, kInfinity));
  }

  /// Whether a logit may leave f32 in units of products, where its key is
  /// dropped: what of a bias of the query, of the prepared sum or of a score is
  /// divided by a small scale, and scores beside the second. Biases of f16 have
  /// no such numbers.
  bool mayLoseKeys() const {
    if (!startsFromBiases)
      return false;
    // What a score adds may be anything.
    if (facts.score)
      return true;
    bool hasLargeBias = llvm::any_of(operands.biases, [](const Bias &bias) {
      Type type = cast<MemRefType>(bias.memory.getType()).getElementType();
      return !bias.isMask && !type.isF16();
    });
    // In units of products, too, if it holds numbers.
    Value sum = operands.keySum.memory;
    bool sumsNumbers = sum && cast<MemRefType>(sum.getType()).getDimSize(0) > 1;
    return hasLargeBias || (sumsNumbers && !facts.elementType.isF16());
  }

  /// Whether the reference may be another one than that of the first keys.
  bool mayRaise() const {
    return reference == Reference::Raised || reference == Reference::Rescaled;
  }

  /// Whether the loop tells rows that have lost all keys: it asks the prepared
  /// sum, where there is one, in each block of a row without a key so far.
  bool marksLostRows() const {
    return (reference == Reference::First ||
            reference == Reference::Rescaled) &&
           mayLoseKeys() && (copiesPast || !operands.keySum.memory);
  }

  /// Of rows for which something holds those that there are.
  Value onlyPresent(Value rows) {
    if (item.queries.fits)
      return rows;
    return arith::AndIOp::create(builder, rows, isPresent(rows));
  }

  /// Which rows of a tile lie before the end.
  Value isPresent(Value like) {
    return item.queries.isPresent(builder, TileBuilder::typeOf(like).getShape(),
                                  /*dim=*/1, zero);
  }

  /// Rows without a key so far.
  Value hasNoKey(TileBuilder &b, Value offset) const {
    return b.equals(marksLostRows() ? math::AbsFOp::create(b, offset) : offset,
                    kNoKey);
  }

  static Value splatNaN(TileBuilder &b, Value like) {
    return b.splatLike(like, std::numeric_limits<double>::quiet_NaN());
  }

  /// Rows that have lost all keys, although they see some that the prepared sum
  /// keeps: biases of the query have dropped these, or left f32.
  Value findLostRows(const Sources &sources, const State &state) {
    Value isEmpty = builder.equals(state.maximum, -kInfinity);
    // Subgroups that have none may have skipped the loop.
    isEmpty = onlyPresent(isEmpty);
    Value none = builder.splatLike(state.sum, 0);
    Value kept =
        builder
            .where(isEmpty, none,
                   [&](TileBuilder &b) -> SmallVector<Value> {
                     if (!sources.logits.keySum.memory)
                       return {b.splatLike(none, 1)};
                     return {b.select(item.keepsNone(b, sources.logits.keySum),
                                      none, b.splatLike(none, 1))};
                   })
            .front();
    return arith::AndIOp::create(builder, isEmpty, builder.equals(kept, 1));
  }

  /// Where a sum is NaN, looks whether the prepared sum keeps any key at all,
  /// which alone can drop them here: a NaN of a query without keys is no logit.
  void forgetDropped(const Sources &sources, State &state) {
    SmallVector<Value> some = builder.where(
        builder.isNaN(state.sum), {state.maximum, state.sum},
        [&](TileBuilder &b) -> SmallVector<Value> {
          Value empty = item.keepsNone(b, sources.logits.keySum);
          return {b.select(empty, b.splatLike(state.maximum, -kInfinity),
                           state.maximum),
                  b.select(empty, b.splatLike(state.sum, 0), state.sum)};
        });
    state.maximum = some[0];
    state.sum = some[1];
  }

  /// Queries behind the row's end have no keys.
  void forgetAbsent(State &state) {
    Value present = isPresent(state.sum);
    auto choose = [&](Value tile, double otherwise) {
      return builder.select(present, tile, builder.splatLike(tile, otherwise));
    };
    state.maximum = choose(state.maximum, -kInfinity);
    state.sum = choose(state.sum, 0);
  }

  /// One step of the running softmax.
  State update(TileBuilder &b, State state, Value logits, Value kept,
               ValueRange values) {
    Value maximum =
        b.maxnum(state.maximum, b.reduce(ReduceKind::Max, logits, 2));
    // Without a key so far, -inf - -inf would be NaN.
    Value reference = getReference(b, maximum);
    Value shrink = b.exp2(
        b.mulf(b.subf(state.maximum, reference), b.splatLike(reference, unit)));
    Value weights = b.exp2(getExponents(b, logits, reference));
    Value sum = b.addf(b.mulf(state.sum, shrink),
                       b.reduce(ReduceKind::Add, weights, 2));
    weights = drop(b, weights, kept);
    State next{{}, maximum, sum};
    for (auto [output, part] : llvm::zip_equal(state.outputs, values)) {
      Value factor =
          b.broadcast(shrink, {0, 1}, TileBuilder::typeOf(output).getShape());
      next.outputs.push_back(addWeighted(b, output, factor, weights, part));
    }
    return next;
  }

  /// One step relative to the maximum of the first block, or of one since.
  /// `state` has for a maximum what is added to the exponents, `kNoKey` before
  /// there is a key.
  State add(TileBuilder &b, State state, Value logits, Value kept, double unit,
            ValueRange values) {
    Value offset = state.maximum;
    Value raised =
        raisesExponents()
            ? b.addf(offset, b.splatLike(offset, getTruncationExponent()))
            : offset;
    ArrayRef<int64_t> shape = TileBuilder::typeOf(logits).getShape();
    Value weights = b.exp2(b.fma(logits, b.splatLike(logits, unit),
                                 b.broadcast(raised, {0, 1}, shape)));
    Value sum = b.addf(state.sum, b.reduce(ReduceKind::Add, weights, 2));
    Value dropped = drop(b, weights, kept);
    State next{{}, offset, sum};
    for (auto [output, part] : llvm::zip_equal(state.outputs, values))
      next.outputs.push_back(addNarrow(b, output, dropped, part));
    return reference == Reference::Rescaled ? rescale(b, next, weights) : next;
  }

  /// The state relative to what makes the sum of a block's weights 2 (`stats`
  /// promises at least 1), in rows where that is large. An infinite one leaves
  /// NaN.
  State rescale(TileBuilder &b, const State &state, Value weights) {
    // Lanes ask what they hold, which is a part of the row's.
    Value held = b.reduce(ReduceKind::Add, weights, 2, /*held=*/true);
    return State::of(b.where(
        b.compare(Predicate::OGT, held, kLargeWeights / lanes), state.carried(),
        [&](TileBuilder &b) -> SmallVector<Value> {
          Value sum = b.reduce(ReduceKind::Add, weights, 2);
          return relativeTo(
                     b, state,
                     b.select(b.compare(Predicate::OGT, sum, kLargeWeights),
                              offsetFor(b, state, sum), state.maximum))
              .carried();
        }));
  }

  /// The same after the loop, of rows whose sum is less than 1. NaN, which has
  /// them done again, where that is nothing, or has too few digits.
  State rescaleSmall(TileBuilder &b, const State &state) {
    Value isSmall = arith::AndIOp::create(
        b, b.compare(Predicate::OLT, state.sum, 1),
        b.compare(Predicate::ONE, math::AbsFOp::create(b, state.maximum),
                  kNoKey));
    return State::of(b.where(
        isSmall, state.carried(), [&](TileBuilder &b) -> SmallVector<Value> {
          Value offset =
              b.select(b.compare(Predicate::OLT, state.sum, kLeastWeights),
                       splatNaN(b, state.sum), offsetFor(b, state, state.sum));
          return relativeTo(b, state, b.select(isSmall, offset, state.maximum))
              .carried();
        }));
  }

  /// The reference that makes 2 of a sum.
  Value offsetFor(TileBuilder &b, const State &state, Value sum) {
    Value half = b.mulf(sum, b.splatLike(sum, 0.5));
    return b.subf(state.maximum, math::Log2Op::create(b, half));
  }

  /// The state relative to another reference.
  State relativeTo(TileBuilder &b, const State &state, Value offset) {
    Value factor = b.exp2(b.subf(offset, state.maximum));
    State next{{}, offset, b.mulf(state.sum, factor)};
    for (Value output : state.outputs)
      next.outputs.push_back(
          b.mulf(output, b.broadcast(factor, {0, 1},
                                     TileBuilder::typeOf(output).getShape())));
    return next;
  }

  /// Of rows without a key so far the maximum is what these logits give them.
  /// NaN, and with it the sum, where units of logits have no exponent, or too
  /// few digits in products.
  State findFirst(TileBuilder &b, State state, Value logits,
                  const LogitsSlices &slices, const LogitsTile &tile) {
    Value offset = state.maximum;
    // Of a reference that may be another one in the end, that one tells.
    double largest = startsFromBiases && !mayRaise() ? kLargestStart : kNoKey;
    auto choose = [&](TileBuilder &b, Value isNew) -> SmallVector<Value> {
      Value maximum = b.reduce(ReduceKind::Max, logits, 2);
      Value usual =
          reference == Reference::Rescaled
              ? b.maxnum(maximum, b.splatLike(maximum, kLeastReference / unit))
              : maximum;
      Value first = makeOffset(b, usual, slices.unit, largest);
      Value without = marksLostRows() ? b.splatLike(offset, kLostKeys) : offset;
      first = b.select(b.equals(maximum, -kInfinity), without, first);
      return {b.select(isNew, first, offset)};
    };
    Value isNew = hasNoKey(b, offset);
    state.maximum =
        b.where(isNew, {offset}, [&](TileBuilder &b) -> SmallVector<Value> {
           // A row that sees no key at all comes here with each block: there is
           // less to look at in the prepared sum. Loads through registers would
           // wait for all that the loop has asked for ahead, and the registers
           // of these would spill in f16, which does not lose keys.
           if (!slices.keySum.memory || !marksLostRows())
             return choose(b, isNew);
           Value hasKeys = arith::AndIOp::create(
               b, isNew, keepsSome(b, slices.keySum, tile));
           return b.where(hasKeys, {offset},
                          [&](TileBuilder &b) { return choose(b, hasKeys); });
         }).front();
    return state;
  }

  /// Of which queries the prepared sum keeps any key of a tile. What is NaN
  /// does not count: its weights tell.
  static Value keepsSome(TileBuilder &b, const BiasSlice &keySum,
                         const LogitsTile &tile) {
    Value sum = readBias(b, keySum, tile);
    if (tile.seen)
      sum = b.select(tile.seen, sum, b.splatLike(sum, -kInfinity));
    Value largest = b.reduce(ReduceKind::Max, sum, 2);
    return b.compare(Predicate::UGT, largest, -kInfinity);
  }

  /// What exponents relative to a maximum are made by adding; NaN where that
  /// is `largest` or more.
  Value makeOffset(TileBuilder &b, Value maximum, double unit, double largest) {
    Value isUsual = b.compare(Predicate::OLT, math::AbsFOp::create(b, maximum),
                              largest / unit);
    return b.select(isUsual, b.mulf(maximum, b.splatLike(maximum, -unit)),
                    splatNaN(b, maximum));
  }

  /// The state relative to these logits' maximum, where a row has no key so far
  /// or they are much larger than those before.
  State raise(TileBuilder &b, const State &state, Value logits, double unit) {
    auto isNewFor = [&](TileBuilder &b, Value maximum) -> Value {
      // Without a key in this block it is -inf.
      Value exponent =
          b.fma(maximum, b.splatLike(maximum, unit), state.maximum);
      Value isLarge = b.compare(Predicate::OGT, exponent, kMostRaised);
      // A first key, whose exponent may be -inf as well.
      Value isKey = b.compare(Predicate::OGT, maximum, -kInfinity);
      return arith::OrIOp::create(
          b, isLarge,
          arith::AndIOp::create(b, isKey, b.equals(state.maximum, kNoKey)));
    };
    // Lanes find out by what they hold, and ask each other afterwards.
    Value anyNew =
        isNewFor(b, b.reduce(ReduceKind::Max, logits, 2, /*held=*/true));
    return State::of(b.where(
        anyNew, state.carried(), [&](TileBuilder &b) -> SmallVector<Value> {
          Value maximum = b.reduce(ReduceKind::Max, logits, 2);
          Value isNew = isNewFor(b, maximum);
          // Before there is a key there is nothing to rescale.
          return relativeTo(b, state,
                            b.select(isNew,
                                     makeOffset(b, maximum, unit, kNoKey),
                                     state.maximum))
              .carried();
        }));
  }

  /// The weights of a tile that products take; the row's sum has all of them.
  Value drop(TileBuilder &b, Value weights, Value kept) {
    return kept ? b.select(kept, weights, b.splatLike(weights, 0)) : weights;
  }

  /// output * factor + weights * values.
  Value addWeighted(TileBuilder &b, Value output, Value factor, Value weights,
                    Value values) {
    if (facts.elementType.isF32()) {
      Value part = MmaOp::create(b, weights, values, b.splatLike(output, 0));
      return b.fma(output, factor, part);
    }
    return addNarrow(b, b.mulf(output, factor), weights, values);
  }

  /// output + weights * values, of weights in the values' type.
  Value addNarrow(TileBuilder &b, Value output, Value weights, Value values) {
    if (weightScale != 1)
      weights = b.mulf(weights, b.splatLike(weights, weightScale));
    Value narrow = narrowWeights(b, weights);
    if (keepsLost()) {
      Value lost = b.subf(weights, b.convert(narrow, b.getF32Type()));
      output = MmaOp::create(b, narrowWeights(b, lost), values, output);
    }
    return MmaOp::create(b, narrow, values, output);
  }

  /// Without an instruction for it, rounding to bf16 costs more than the
  /// exponential; cutting off the lower half is a byte permutation.
  bool truncates() const { return facts.elementType.isBF16() && !fastRounding; }

  /// In a row of few elements the errors of its weights do not average out, and
  /// their sum may vanish: what narrowing takes away is added as well.
  bool keepsLost() const {
    return !facts.elementType.isF32() && facts.valueDepth <= kFewElements;
  }

  /// Whether exponents are raised by getTruncationExponent(), which makes up
  /// for what cutting off takes away and leaves the weight 1 what it is.
  bool raisesExponents() const { return truncates() && !keepsLost(); }

  /// The weights, or what is left of them, in the type of the values.
  Value narrowWeights(TileBuilder &b, Value weights) {
    // A NaN need not be kept: the sum of the weights has it as well and ends in
    // every output of the row.
    return truncates() ? b.truncate(weights, facts.elementType)
                       : b.convert(weights, facts.elementType);
  }

  /// Sets `maximum` to 0 where no key has been seen.
  Value getReference(TileBuilder &b, Value maximum) {
    return b.select(b.equals(maximum, -kInfinity), b.splatLike(maximum, 0),
                    maximum);
  }

  /// Of the weights relative to that of `reference`.
  Value getExponents(TileBuilder &b, Value logits, Value reference) {
    ArrayRef<int64_t> shape = TileBuilder::typeOf(logits).getShape();
    if (facts.elementType.isF32())
      return b.mulf(b.subf(logits, b.broadcast(reference, {0, 1}, shape)),
                    b.splatLike(logits, unit));
    Value factor = getUnit(b, reference);
    return b.fma(logits, b.broadcast(factor, {0, 1}, shape),
                 b.broadcast(getOffset(b, reference, factor), {0, 1}, shape));
  }

  /// What logits and maxima are multiplied by to be exponents: their unit, but
  /// 1 where such a product overflows. Logits that differ there differ by so
  /// much that the smaller one has no weight in either case.
  Value getUnit(TileBuilder &b, Value reference) {
    Value size = math::AbsFOp::create(b, reference);
    Value isLarge = b.compare(Predicate::OGT, size, 0x1p123);
    return b.select(isLarge, b.splatLike(reference, 1),
                    b.splatLike(reference, unit));
  }

  /// What is added to unit * logits.
  Value getOffset(TileBuilder &b, Value reference, Value factor) {
    Value negative = arith::NegFOp::create(b, reference);
    return raisesExponents()
               ? b.fma(negative, factor,
                       b.splatLike(reference, getTruncationExponent()))
               : b.mulf(negative, factor);
  }

  /// What the exponents were really raised by: large maxima leave no digits for
  /// it.
  Value getShift(Value maximum) {
    Value reference = getReference(builder, maximum);
    Value factor = getUnit(builder, reference);
    return builder.fma(reference, factor,
                       getOffset(builder, reference, factor));
  }

  void finish(State state) {
    // No key left: the sum is 0 and so is the output, whatever the values hold.
    Value empty = builder.equals(state.sum, 0);
    Value scale = raisesExponents()
                      ? builder.exp2(getShift(state.maximum))
                      : builder.splatLike(state.sum, 1 / weightScale);
    if (dropout)
      scale =
          builder.mulf(scale, builder.splatLike(scale, dropout.getFactor()));
    Value inverse = builder.divf(scale, state.sum);
    storeWeightedValues(item, operands, valueParts, state.outputs, inverse,
                        empty);
    writeStatistics(state);
  }

  /// The log-sum-exp (`lse`), and the maximum and the sum that it is made of
  /// (`stats`): large maxima leave no digits for the sum.
  void writeStatistics(State state) {
    if (!operands.lse && !operands.stats)
      return;
    Value sum = state.sum;
    if (raisesExponents())
      sum = builder.mulf(sum, builder.exp2(arith::NegFOp::create(
                                  builder, getShift(state.maximum))));
    Value logSum = math::Log2Op::create(builder, sum);
    WorkItem written = item.withWritten();
    auto store = [&](Value tile, Value memory) {
      builder.store(tile, memory, {zero, zero},
                    {item.rows.fits, written.queries.fits});
    };
    if (operands.stats) {
      // Without a key: no weight, whatever is subtracted from its logit.
      Value empty = builder.equals(sum, 0);
      Value none = builder.splatLike(sum, 0);
      store(getReference(builder, state.maximum),
            written.sliceStatistic(operands.stats, 0));
      store(builder.select(empty, none, logSum),
            written.sliceStatistic(operands.stats, 1));
    }
    if (!operands.lse)
      return;
    Value lse = builder.fma(
        state.maximum, builder.splatLike(sum, unit * llvm::numbers::ln2),
        builder.mulf(logSum, builder.splatLike(sum, llvm::numbers::ln2)));
    if (operands.keyMax) {
      const Bias &keySum = operands.keySum;
      OpFoldResult origin = builder.getIndexAttr(0);
      auto at = [&](int64_t dim, Value index) {
        return keySum.broadcast[dim] ? origin : OpFoldResult(index);
      };
      // One maximum for all rows: clamping to the edge repeats it.
      Value memory = builder.slice(
          operands.keyMax, {{at(kBiasB, item.batch), {}},
                            {at(kBiasN, item.rows.start),
                             keySum.broadcast[kBiasN] ? builder.getIndexAttr(1)
                                                      : item.rows.extent},
                            {at(kBiasH, item.head), {}}});
      bool fits =
          blocks.rows == 1 || (item.rows.fits && !keySum.broadcast[kBiasN]);
      Value maximum = builder.load(memory, {zero}, {blocks.rows}, {fits});
      lse = builder.addf(
          builder.saturate(lse),
          builder.broadcast(maximum, {0}, TileBuilder::typeOf(lse).getShape()));
    }
    // A row of the lowest numbers has keys: only one without has -inf.
    lse = builder.saturate(lse);
    lse = builder.select(builder.equals(sum, 0),
                         builder.splatLike(lse, -kInfinity), lse);
    store(lse, written.sliceStatistic(operands.lse));
  }

  TileBuilder &builder;
  const AttentionFacts &facts;
  const AttentionOperands &operands;
  const AttentionBlocks &blocks;
  double unit;
  /// The target rounds to bf16 in one instruction, or speed is no matter.
  bool fastRounding;
  /// See getRelativeWeightScale(); 1 where exponents are raised, which is
  /// bf16's.
  double weightScale;
  /// What NaN has spoilt where the loop does not choose is done again.
  Drops drops;
  Reference reference;
  /// The loop's products start from the biases where weights are relative to
  /// the first keys.
  bool startsFromBiases;
  /// Outside of rare work infinite scores come out as NaN.
  bool losesInfinities;
  /// See copiesPastRegisters, and of biases BiasSlice::fillsZeros.
  bool copiesPast;
  /// Of a subgroup.
  int64_t lanes;
  /// Of the depth of queries and keys, and of that of values.
  SmallVector<DepthPart> parts, valueParts;
  WorkItem item;
  Value zero;
  Dropout dropout;
};
} // namespace

static bool isDeep(const AttentionFacts &facts) {
  constexpr int64_t kLargeDepth = 128;
  return std::max(facts.depth, facts.valueDepth) > kLargeDepth;
}

/// What the loop chooses. That is little where a product takes an instruction
/// for each of its elements, and where depths fill the registers a second loop
/// would have none.
static Drops getDrops(TargetAttr target, const AttentionFacts &facts,
                      bool hasBiases) {
  // What the score makes of a key that is cleared may be NaN.
  if (facts.score && !facts.score.isTotal)
    return Drops::Chosen;
  if (!hasBiases)
    return Drops::Added;
  if (target.isCPU())
    return Drops::Chosen;
  bool isOneByOne = llvm::all_of(
      target.getMatrix().getAsRange<MatrixInstrAttr>(),
      [&](MatrixInstrAttr instr) {
        return !instr.multiplies(facts.elementType) || instr.getK() == 1;
      });
  return isOneByOne || isDeep(facts) ? Drops::ChosenByQuery : Drops::Added;
}

/// 16-bit types on GPUs, where registers do for a second loop, and weights
/// leave room in their type. f32 keeps the digits that weights relative to the
/// largest have. A score that knows where keys are may give those of later
/// blocks much larger logits, in every row.
static Reference chooseReference(TargetAttr target,
                                 const AttentionFacts &facts) {
  return target.isCPU() || facts.elementType.isF32() || isDeep(facts) ||
                 keepsSmallWeights(target, facts.elementType)
             ? Reference::Running
         : !facts.score.mayGrow      ? Reference::First
         : facts.elementType.isF16() ? Reference::Raised
                                     : Reference::Rescaled;
}

/// Whether products are split into those of narrower terms, which make NaN of
/// infinities. Where depths fill the registers that stays.
static bool losesInfinities(TargetAttr target, const AttentionFacts &facts) {
  return !isDeep(facts) &&
         llvm::any_of(target.getMatrix().getAsRange<MatrixInstrAttr>(),
                      [&](MatrixInstrAttr instr) {
                        return instr.multiplies(facts.elementType) &&
                               instr.countProducts(facts.elementType) > 1;
                      });
}

KernelOp evoformer::createAttentionKernel(KernelFactory &factory, Location loc,
                                          const AttentionFacts &facts,
                                          const AttentionOperands &operands,
                                          const AttentionBlocks &blocks,
                                          bool alignedRows,
                                          ScheduleAttr schedule) {
  if (facts.weights.areLogits)
    return createLogitWeightsKernel(factory, loc, facts, operands, blocks,
                                    alignedRows, schedule);
  TargetAttr target = factory.getTarget();
  bool fastRounding = target.isCPU() || target.hasNativeBF16Convert();
  return factory.create<AttentionOperands>(
      loc, "attention", operands, schedule,
      [&](TileBuilder &builder, const AttentionOperands &inside) {
        AttentionProgram(
            builder, facts, inside, blocks, alignedRows, fastRounding,
            getRelativeWeightScale(target, facts.elementType),
            getDrops(target, facts, !inside.biases.empty()),
            chooseReference(target, facts), mayStartFromBiases(target, facts),
            losesInfinities(target, facts), copiesPastRegisters(target),
            target.getSubgroupSize())
            .write();
      });
}
