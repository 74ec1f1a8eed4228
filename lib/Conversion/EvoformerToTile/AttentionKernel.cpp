//===- AttentionKernel.cpp - Attention as a loop over key blocks ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Logits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Slowest first. Query blocks share keys and values, heads share cache lines,
/// and the rows that share a pair bias come one after the other.
enum SpaceDim { kSpaceB, kSpaceRows, kSpaceH, kSpaceQueries };

SmallVector<Value, 4>
evoformer::getAttentionSpace(TileBuilder &builder,
                             const AttentionOperands &operands,
                             const AttentionBlocks &blocks) {
  Value query = operands.query;
  SmallVector<Value, 4> space(4);
  space[kSpaceB] = builder.index(builder.dim(query, 0));
  space[kSpaceRows] = builder.ceilDiv(builder.dim(query, 1), blocks.rows);
  space[kSpaceH] = builder.index(builder.dim(query, 2));
  space[kSpaceQueries] = builder.ceilDiv(builder.dim(query, 3), blocks.queries);
  return space;
}

namespace {
/// The kernel's program: softmax(logits) * values with a running maximum and
/// sum (Milakov and Gimelshein, "Online normalizer calculation for softmax",
/// 2018; Rabe and Staats, "Self-attention does not need O(n^2) memory", 2021).
class AttentionProgram {
public:
  AttentionProgram(TileBuilder &builder, const AttentionFacts &facts,
                   const AttentionOperands &operands,
                   const AttentionBlocks &blocks, bool alignedRows,
                   bool fastRounding, bool chooseDrops)
      : builder(builder), facts(facts), operands(operands), blocks(blocks),
        alignedRows(alignedRows), fastRounding(fastRounding),
        chooseDrops(chooseDrops) {}

  void write() {
    findItem();
    State state = loopOverKeys();
    finish(state);
  }

private:
  /// Of the queries of a tile: weighted sum of values [rows, queries, dv],
  /// maximum of the logits and sum of the weights [rows, queries].
  struct State {
    Value output, maximum, sum;
  };

  void findItem() {
    Value id[4];
    for (int64_t dim = 0; dim < 4; ++dim)
      id[dim] = WorkItemIdOp::create(builder, dim);
    batch = id[kSpaceB];
    head = id[kSpaceH];
    row = builder.mul(id[kSpaceRows], builder.index(blocks.rows));
    query = builder.mul(id[kSpaceQueries], builder.index(blocks.queries));
    rowsLeft =
        builder.remaining(builder.dim(operands.query, 1), row, blocks.rows);
    queriesLeft = builder.remaining(builder.dim(operands.query, 3), query,
                                    blocks.queries);
    zero = builder.index(0);
  }

  bool rowsFit() const { return isStatic(rowsLeft); }
  bool queriesFit() const { return isStatic(queriesLeft); }
  static bool isStatic(OpFoldResult size) { return isa<Attribute>(size); }

  /// The rows and queries of this item in [b, n, h, s, d].
  Value sliceQueries(Value memory) {
    return builder.slice(memory,
                         {{batch, {}},
                          {row, rowsLeft},
                          {head, {}},
                          {query, queriesLeft},
                          {builder.getIndexAttr(0), builder.dim(memory, 4)}});
  }

  /// The rows of this item and all keys.
  Value sliceKeys(Value memory) {
    return builder.slice(memory,
                         {{batch, {}},
                          {row, rowsLeft},
                          {head, {}},
                          {builder.getIndexAttr(0), builder.dim(memory, 3)},
                          {builder.getIndexAttr(0), builder.dim(memory, 4)}});
  }

  /// The elements [start, start + size) of the depth.
  struct DepthPart {
    int64_t start, size;
  };

  /// Sums of many products lose digits of f32. Where the inputs have as many,
  /// long sums are made of short ones.
  SmallVector<DepthPart> cutDepth() const {
    constexpr int64_t kLong = 64, kShort = 32;
    int64_t step =
        facts.elementType.isF32() && facts.depth > kLong ? kShort : facts.depth;
    SmallVector<DepthPart> parts;
    for (int64_t start = 0; start < facts.depth; start += step)
      parts.push_back({start, std::min(step, facts.depth - start)});
    return parts;
  }

  /// A zero outside, for atoms wider than the depth and keys beyond the last:
  /// 0 * 0 adds nothing where a repeated infinity would make a NaN.
  Value loadOperand(TileBuilder &b, Value slice, Value offset, int64_t size,
                    DepthPart depth, bool fits) {
    Type element = cast<MemRefType>(slice.getType()).getElementType();
    return b.load(slice, {b.index(0), offset, b.index(depth.start)},
                  {blocks.rows, size, depth.size}, {rowsFit(), fits, true},
                  b.getZeroAttr(element), rowAlignment(slice));
  }

  /// Of the rows, along the depth, of a slice [rows, s, d].
  int64_t rowAlignment(Value slice) {
    auto type = cast<MemRefType>(slice.getType());
    if (!alignedRows)
      return 0;
    return getVectorBytes(type.getDimSize(2) *
                          getElementBytes(type.getElementType()));
  }
  int64_t keyAlignment(Value bias) {
    auto type = cast<MemRefType>(bias.getType());
    return getVectorBytes(blocks.keys * getElementBytes(type.getElementType()));
  }

  BiasSlice sliceBias(const Bias &bias) {
    BiasSlice result{{}, {}, {}, bias.isMask};
    OpFoldResult origin = builder.getIndexAttr(0);
    auto at = [&](int64_t dim, Value index) {
      return bias.broadcast[dim] ? origin : OpFoldResult(index);
    };
    SmallVector<SliceDim> dims(5);
    dims[kBiasB] = {at(kBiasB, batch), {}};
    dims[kBiasN] = {at(kBiasN, row), {}};
    dims[kBiasH] = {at(kBiasH, head), {}};
    dims[kBiasQ] = {at(kBiasQ, query), {}};
    dims[kBiasK] = {origin, {}};
    auto keep = [&](int64_t dim, int64_t tileDim, OpFoldResult extent,
                    bool fits) {
      if (bias.broadcast[dim])
        return;
      dims[dim].extent = extent;
      result.dims.push_back(tileDim);
      result.inBounds.push_back(fits);
    };
    keep(kBiasN, 0, rowsLeft, rowsFit());
    keep(kBiasQ, 1, queriesLeft, queriesFit());
    // Whoever launches this kernel pads the keys to whole blocks.
    if (!bias.broadcast[kBiasK]) {
      keep(kBiasK, 2, builder.dim(bias.memory, kBiasK), true);
      result.alignment = keyAlignment(bias.memory);
    }
    result.memory = builder.slice(bias.memory, dims);
    return result;
  }

  /// The prepared sum is a bias without the query's dimension.
  BiasSlice sliceKeySum() {
    const Bias &sum = operands.keySum;
    OpFoldResult origin = builder.getIndexAttr(0);
    auto at = [&](int64_t dim, Value index) {
      return sum.broadcast[dim] ? origin : OpFoldResult(index);
    };
    BiasSlice result{{}, {}, {}, false};
    SmallVector<SliceDim> dims = {{at(kBiasB, batch), {}},
                                  {at(kBiasN, row), {}},
                                  {at(kBiasH, head), {}},
                                  {origin, builder.dim(sum.memory, 3)}};
    if (!sum.broadcast[kBiasN]) {
      dims[1].extent = rowsLeft;
      result.dims.push_back(0);
      result.inBounds.push_back(rowsFit());
    }
    result.dims.push_back(2);
    result.inBounds.push_back(true);
    result.memory = builder.slice(sum.memory, dims);
    result.alignment = keyAlignment(sum.memory);
    return result;
  }

  /// Keys that are dropped for all queries score 0, so that a NaN in them is
  /// not seen; -inf is added to their scores later. Once per key, this costs
  /// less than a choice per logit.
  Value clearDropped(TileBuilder &b, const BiasSlice &keySum, Value k,
                     Value offset) {
    ArrayRef<int64_t> shape = TileBuilder::typeOf(k).getShape();
    SmallVector<Value> indices;
    SmallVector<int64_t> tile, dims;
    for (int64_t dim : keySum.dims) {
      bool isKey = dim == 2;
      indices.push_back(isKey ? offset : b.index(0));
      tile.push_back(isKey ? blocks.keys : blocks.rows);
      dims.push_back(isKey ? 1 : 0);
    }
    Value terms = b.load(keySum.memory, indices, tile, keySum.inBounds, {},
                         keySum.alignment);
    Value dropped = b.broadcast(b.equals(terms, -kInfinity), dims, shape);
    return b.select(dropped, b.splatLike(k, 0), k);
  }

  /// [rows, queries, keys] of [rows, queries, depth] and [rows, keys, depth].
  Value multiplyTransposed(TileBuilder &b, Value queries, Value keys) {
    RankedTensorType type = TileBuilder::typeOf(keys);
    int64_t depth = type.getDimSize(2);
    Value transposed =
        TransposeOp::create(b, type.clone({blocks.rows, depth, blocks.keys}),
                            keys, ArrayRef<int64_t>{0, 2, 1});
    return MmaOp::create(
        b, queries, transposed,
        b.splat({blocks.rows, blocks.queries, blocks.keys}, b.getF32Type(), 0));
  }

  State loopOverKeys() {
    SmallVector<int64_t, 2> rowShape = {blocks.rows, blocks.queries};
    Type f32 = builder.getF32Type();
    SmallVector<DepthPart> parts = cutDepth();
    Value querySlice = sliceQueries(operands.query);
    auto queries = llvm::map_to_vector(parts, [&](DepthPart part) {
      return loadOperand(builder, querySlice, zero, blocks.queries, part,
                         queriesFit());
    });
    Value keys = sliceKeys(operands.key), values = sliceKeys(operands.value);
    OpFoldResult numKeys = builder.dim(operands.key, 3);
    auto fixed = getConstantIntValue(numKeys);
    bool keysFit = fixed && *fixed % blocks.keys == 0;

    LogitsSlices slices;
    slices.scale = facts.scale;
    slices.chooseDrops = chooseDrops;
    if (operands.keySum.memory)
      slices.keySum = sliceKeySum();
    for (const Bias &bias : operands.biases)
      slices.biases.push_back(sliceBias(bias));

    SmallVector<Value> start = {
        builder.splat({blocks.rows, blocks.queries, facts.valueDepth}, f32, 0),
        builder.splat(rowShape, f32, -kInfinity),
        builder.splat(rowShape, f32, 0)};
    auto loop = scf::ForOp::create(
        builder, zero, builder.index(numKeys), builder.index(blocks.keys),
        start, [&](OpBuilder &nested, Location loc, Value key, ValueRange c) {
          TileBuilder b(loc, nested);
          auto ks = llvm::map_to_vector(parts, [&](DepthPart part) {
            Value k = loadOperand(b, keys, key, blocks.keys, part, keysFit);
            return slices.keySum.memory ? clearDropped(b, slices.keySum, k, key)
                                        : k;
          });
          Value v = loadOperand(b, values, key, blocks.keys,
                                {0, facts.valueDepth}, keysFit);
          Value scores;
          for (auto [query, k] : llvm::zip(queries, ks)) {
            Value some = multiplyTransposed(b, query, k);
            scores = scores ? b.addf(scores, some) : some;
          }
          Value logits = buildLogits(b, slices, scores, key);
          State next = update(b, {c[0], c[1], c[2]}, logits, v);
          scf::YieldOp::create(b,
                               ValueRange{next.output, next.maximum, next.sum});
        });
    return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
  }

  /// One step of the running softmax.
  State update(TileBuilder &b, State state, Value logits, Value values) {
    ArrayRef<int64_t> shape = TileBuilder::typeOf(logits).getShape();
    Value maximum =
        b.maxnum(state.maximum, b.reduce(ReduceKind::Max, logits, 2));
    // Without a key so far, -inf - -inf would be NaN.
    Value reference = b.select(b.equals(maximum, -kInfinity),
                               b.splatLike(maximum, 0), maximum);
    Value shrink = b.exp2(b.subf(state.maximum, reference));
    // Adding the negative, because packed additions exist and packed
    // subtractions do not.
    Value negative = arith::NegFOp::create(b, reference);
    Value weights =
        b.exp2(b.addf(logits, b.broadcast(negative, {0, 1}, shape)));
    Value sum = b.addf(b.mulf(state.sum, shrink),
                       b.reduce(ReduceKind::Add, weights, 2));
    Value factor = b.broadcast(shrink, {0, 1},
                               TileBuilder::typeOf(state.output).getShape());
    if (facts.elementType.isF32()) {
      Value part =
          MmaOp::create(b, weights, values, b.splatLike(state.output, 0));
      return {b.fma(state.output, factor, part), maximum, sum};
    }
    Value output = b.mulf(state.output, factor);
    Value narrow = narrowWeights(b, weights);
    // In a row of few elements the errors of its weights do not average out,
    // and their sum may vanish: what narrowing takes away is added as well.
    constexpr int64_t kFewElements = 16;
    if (facts.valueDepth <= kFewElements) {
      Value lost = b.subf(weights, b.convert(narrow, b.getF32Type()));
      output = MmaOp::create(b, narrowWeights(b, lost), values, output);
    }
    output = MmaOp::create(b, narrow, values, output);
    return {output, maximum, sum};
  }

  /// The weights, or what is left of them, in the type of the values.
  Value narrowWeights(TileBuilder &b, Value weights) {
    Value narrow = b.convert(weights, facts.elementType);
    // Without an instruction for it, rounding ties to even and keeping NaNs
    // apart from infinities cost more than the exponential. A NaN need not be
    // kept: the sum of the weights has it as well and ends in every output of
    // the row. Ties occur for one weight in 2^16.
    auto truncate = narrow.getDefiningOp<arith::TruncFOp>();
    if (truncate && facts.elementType.isBF16() && !fastRounding) {
      truncate.setRoundingmode(arith::RoundingMode::to_nearest_away);
      truncate.setFastmath(arith::FastMathFlags::nnan);
    }
    return narrow;
  }

  void finish(State state) {
    ArrayRef<int64_t> shape = TileBuilder::typeOf(state.output).getShape();
    // No key left: the sum is 0 and so is the output, whatever the values hold.
    Value empty = builder.equals(state.sum, 0);
    Value inverse = builder.divf(builder.splatLike(state.sum, 1), state.sum);
    Value output =
        builder.mulf(state.output, builder.broadcast(inverse, {0, 1}, shape));
    output = builder.select(builder.broadcast(empty, {0, 1}, shape),
                            builder.splatLike(output, 0), output);
    if (operands.gate) {
      Value slice = sliceQueries(operands.gate);
      Value gate = builder.load(slice, {zero, zero, zero}, shape,
                                {rowsFit(), queriesFit(), true}, {},
                                rowAlignment(slice));
      gate = builder.convert(gate, builder.getF32Type());
      // sigmoid(x) = 1 / (1 + 2^(-x log2 e)): 0, not NaN, for large negative x.
      Value power = builder.exp2(
          builder.mulf(gate, builder.splatLike(gate, -llvm::numbers::log2e)));
      Value one = builder.splatLike(power, 1);
      output = builder.divf(output, builder.addf(one, power));
    }
    Value slice = sliceQueries(operands.output);
    Type element = cast<MemRefType>(slice.getType()).getElementType();
    builder.store(builder.convert(output, element), slice, {zero, zero, zero},
                  {rowsFit(), queriesFit(), true}, rowAlignment(slice));
    writeStatistics(state);
  }

  /// The log-sum-exp: relative to the prepared maximum as it comes out of the
  /// loop (`stats`), and with it added back (`lse`).
  void writeStatistics(State state) {
    if (!operands.lse && !operands.stats)
      return;
    Value stats =
        builder.mulf(builder.addf(state.maximum, log2(state.sum)),
                     builder.splatLike(state.sum, llvm::numbers::ln2));
    auto store = [&](Value tile, Value memory) {
      builder.store(
          tile,
          builder.slice(
              memory,
              {{batch, {}}, {row, rowsLeft}, {head, {}}, {query, queriesLeft}}),
          {zero, zero}, {rowsFit(), queriesFit()});
    };
    if (operands.stats)
      store(stats, operands.stats);
    if (!operands.lse)
      return;
    Value lse = stats;
    if (operands.keyMax) {
      const Bias &sum = operands.keySum;
      OpFoldResult origin = builder.getIndexAttr(0);
      auto at = [&](int64_t dim, Value index) {
        return sum.broadcast[dim] ? origin : OpFoldResult(index);
      };
      // One maximum for all rows: clamping to the edge repeats it.
      Value memory = builder.slice(
          operands.keyMax,
          {{at(kBiasB, batch), {}},
           {at(kBiasN, row),
            sum.broadcast[kBiasN] ? builder.getIndexAttr(1) : rowsLeft},
           {at(kBiasH, head), {}}});
      bool fits = blocks.rows == 1 || (rowsFit() && !sum.broadcast[kBiasN]);
      Value maximum = builder.load(memory, {zero}, {blocks.rows}, {fits});
      lse = builder.addf(
          lse,
          builder.broadcast(maximum, {0}, TileBuilder::typeOf(lse).getShape()));
    }
    store(lse, operands.lse);
  }

  Value log2(Value tile) { return math::Log2Op::create(builder, tile); }

  TileBuilder &builder;
  const AttentionFacts &facts;
  const AttentionOperands &operands;
  const AttentionBlocks &blocks;
  bool alignedRows;
  /// The target rounds to bf16 in one instruction, or speed is no matter.
  bool fastRounding;
  /// See LogitsSlices.
  bool chooseDrops;
  Value batch, row, head, query, zero;
  OpFoldResult rowsLeft, queriesLeft;
};
} // namespace

KernelOp evoformer::createAttentionKernel(KernelFactory &factory, Location loc,
                                          const AttentionFacts &facts,
                                          const AttentionOperands &operands,
                                          const AttentionBlocks &blocks,
                                          bool alignedRows,
                                          ScheduleAttr schedule) {
  AttentionOperands inside = operands;
  TargetAttr target = factory.getTarget();
  bool fastRounding =
      target.isCPU() || target.hasProperty("native_bf16_convert");
  // 16-bit types on GPUs spend as little as possible on a logit; there a NaN in
  // a key that only a bias of the query drops by -inf is not ignored.
  bool chooseDrops = target.isCPU() || facts.elementType.isF32();
  SmallVector<Type> types;
  for (Value *operand : inside.present())
    types.push_back(operand->getType());
  return factory.create(
      loc, "attention", types, schedule,
      [&](TileBuilder &builder, ValueRange arguments) {
        for (auto [operand, argument] : llvm::zip(inside.present(), arguments))
          *operand = argument;
        AttentionProgram(builder, facts, inside, blocks, alignedRows,
                         fastRounding, chooseDrops)
            .write();
      });
}
