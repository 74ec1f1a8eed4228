//===- ScoreProgram.cpp - A score region on tiles -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScoreProgram.h"

#include "Logits.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// A set of the logits' dimensions.
class LogitDims {
public:
  LogitDims() = default;
  LogitDims(LogitDim dim) : bits(1U << static_cast<unsigned>(dim)) {}
  static LogitDims all() {
    return LogitDims(LogitDim::Rows) | LogitDim::Queries | LogitDim::Keys;
  }

  bool has(LogitDim dim) const { return bits & LogitDims(dim).bits; }
  bool empty() const { return bits == 0; }
  bool operator==(LogitDims other) const { return bits == other.bits; }
  /// What has both queries and keys has rows: there is no such matrix.
  LogitDims operator|(LogitDims other) const {
    LogitDims both;
    both.bits = bits | other.bits;
    if (both.has(LogitDim::Queries) && both.has(LogitDim::Keys))
      both.bits |= LogitDims(LogitDim::Rows).bits;
    return both;
  }

private:
  unsigned bits = 0;
};

/// Values of the region: numbers, or tiles with some of the logits' dimensions,
/// in the order of the tile's.
class Program {
public:
  Program(TileBuilder &builder, const LogitsSlices &slices,
          const LogitsTile &tile, Value scores)
      : builder(builder), slices(slices), place(slices.place), tile(tile),
        scores(scores) {}

  SmallVector<Value> run() {
    Block &body = *slices.score.body;
    for (BlockArgument argument : body.getArguments()) {
      if (argument.use_empty())
        continue;
      unsigned number = argument.getArgNumber();
      // Lookups read it.
      if (isa<VectorType>(argument.getType()))
        continue;
      define(argument,
             number < kNumScoreArguments
                 ? readArgument(static_cast<ScoreArgument>(number))
                 : read(slices.captures[number - kNumScoreArguments]));
    }
    for (Operation &op : body.without_terminator())
      if (auto lookup = dyn_cast<LookupOp>(op))
        define(lookup, lookUp(lookup));
      else
        lift(op);
    SmallVector<Value> results = llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value value) { return get(value, LogitDims::all()); });
    if (!slices.score.isTotal)
      results.front() = clearOutside(results.front());
    return results;
  }

private:
  struct Lifted {
    Value value;
    LogitDims dims;
  };

  void define(Value value, const Lifted &lifted) {
    values.try_emplace(value, lifted);
  }

  /// The logits' dimensions, in the order in which the tile has them.
  SmallVector<LogitDim, 3> inOrder(LogitDims dims) const {
    SmallVector<LogitDim, 3> ordered;
    for (LogitDim dim : {LogitDim::Rows, LogitDim::Queries, LogitDim::Keys})
      if (dims.has(dim))
        ordered.push_back(dim);
    llvm::sort(ordered, [&](LogitDim a, LogitDim b) {
      return tile.getPosition(a) < tile.getPosition(b);
    });
    return ordered;
  }

  SmallVector<int64_t> shapeOf(LogitDims dims) const {
    return llvm::map_to_vector(inOrder(dims), [&](LogitDim dim) {
      return tile.shape[tile.getPosition(dim)];
    });
  }

  /// A value with these dimensions, and maybe more than it needs.
  Value get(Value value, LogitDims dims) {
    return widen(values.at(value), dims);
  }
  Value widen(const Lifted &lifted, LogitDims dims) {
    if (lifted.dims == dims)
      return lifted.value;
    SmallVector<int64_t> shape = shapeOf(dims);
    if (lifted.dims.empty()) {
      auto type = RankedTensorType::get(shape, lifted.value.getType());
      Attribute number;
      if (matchPattern(lifted.value, m_Constant(&number)))
        return arith::ConstantOp::create(builder,
                                         SplatElementsAttr::get(type, number));
      return tensor::SplatOp::create(builder, type, lifted.value);
    }
    SmallVector<LogitDim, 3> all = inOrder(dims);
    SmallVector<int64_t> positions;
    for (LogitDim dim : inOrder(lifted.dims))
      positions.push_back(std::distance(all.begin(), llvm::find(all, dim)));
    return builder.broadcast(lifted.value, positions, shape);
  }

  Value toI32(Value index) {
    return arith::IndexCastOp::create(builder, builder.getI32Type(), index);
  }

  Lifted readArgument(ScoreArgument argument) {
    switch (argument) {
    case ScoreArgument::Score:
      return {scores, LogitDims::all()};
    case ScoreArgument::Batch:
      return {toI32(place.batch), {}};
    case ScoreArgument::Row:
      return readIndex(place.row, LogitDim::Rows);
    case ScoreArgument::Head:
      return {toI32(place.head), {}};
    case ScoreArgument::Query:
      return readIndex(place.query, LogitDim::Queries);
    case ScoreArgument::Key:
      return readIndex(place.key, LogitDim::Keys);
    case ScoreArgument::NumQueries:
      return {toI32(place.numQueries), {}};
    case ScoreArgument::NumKeys:
      return {toI32(place.numKeys), {}};
    }
    llvm_unreachable("all arguments are above");
  }

  Lifted read(const BiasSlice &capture) {
    LogitDims dims;
    for (LogitDim dim : capture.dims)
      dims = dims | dim;
    return {readCapture(builder, capture, tile), dims};
  }

  Lifted readIndex(Value start, LogitDim dim) {
    Value first = builder.add(start, tile.offsets[static_cast<unsigned>(dim)]);
    int64_t size = tile.shape[tile.getPosition(dim)];
    if (size == 1)
      return {toI32(first), {}};
    auto type = RankedTensorType::get({size}, builder.getI32Type());
    return {tile::IotaOp::create(builder, type, first, /*dim=*/0), dim};
  }

  /// What lies behind the ends of the row has no weight, but where it is NaN.
  Value clearOutside(Value score) {
    auto clear = [&](ScoreArgument argument, Value count) {
      Lifted index = readArgument(argument);
      Value inside =
          arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, index.value,
                                widen({toI32(count), {}}, index.dims));
      score = builder.select(widen({inside, index.dims}, LogitDims::all()),
                             score, builder.splatLike(score, 0));
    };
    if (!place.queriesFit)
      clear(ScoreArgument::Query, place.numQueries);
    if (!place.keysFit)
      clear(ScoreArgument::Key, place.numKeys);
    return score;
  }

  Value makeInteger(int64_t value, LogitDims dims) {
    Value number =
        arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
    return widen({number, {}}, dims);
  }

  /// The entry of an index that is held within the table. Of a tile it is
  /// chosen bit by bit, which every target can: as many choices as there are
  /// entries.
  Lifted lookUp(LookupOp op) {
    auto table = cast<BlockArgument>(op.getTable());
    const BiasSlice &slice =
        slices.captures[table.getArgNumber() - kNumScoreArguments];
    auto [index, dims] = values.at(op.getIndex());
    auto last = static_cast<int64_t>(slice.entries.size()) - 1;
    index = arith::MaxSIOp::create(builder, index, makeInteger(0, dims));
    index = arith::MinSIOp::create(builder, index, makeInteger(last, dims));
    SmallVector<Lifted> left;
    for (Value entry : slice.entries)
      left.push_back({entry, {}});
    for (int64_t bit = 1; left.size() > 1; bit *= 2) {
      Value isSet = arith::CmpIOp::create(
          builder, arith::CmpIPredicate::ne,
          arith::AndIOp::create(builder, index, makeInteger(bit, dims)),
          makeInteger(0, dims));
      SmallVector<Lifted> next;
      for (size_t at = 0; at < left.size(); at += 2) {
        if (at + 1 == left.size()) {
          next.push_back(left[at]);
          continue;
        }
        next.push_back({builder.select(isSet, widen(left[at + 1], dims),
                                       widen(left[at], dims)),
                        dims});
      }
      left = std::move(next);
    }
    return left.front();
  }

  void lift(Operation &op) {
    LogitDims dims;
    for (Value operand : op.getOperands())
      dims = dims | values.at(operand).dims;
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, get(operand, dims));
    Value result = op.getResult(0);
    Value lifted = builder.clone(op, mapping)->getResult(0);
    if (!dims.empty())
      lifted.setType(RankedTensorType::get(shapeOf(dims), lifted.getType()));
    define(result, {lifted, dims});
  }

  TileBuilder &builder;
  const LogitsSlices &slices;
  const ScorePlace &place;
  const LogitsTile &tile;
  Value scores;
  DenseMap<Value, Lifted> values;
};
} // namespace

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Value makeNumber(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

namespace {
/// e^x as 2^(x log2(e)).
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Value factor = makeNumber(rewriter, op.getLoc(), llvm::numbers::log2e);
    Value exponent =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), factor);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, exponent);
    return success();
  }
};

/// ln(x) as log2(x) ln(2).
struct ExpandLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    Value factor = makeNumber(rewriter, op.getLoc(), llvm::numbers::ln2);
    Value log2 = math::Log2Op::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, log2, factor);
    return success();
  }
};
/// tanh(x) as 1 - 2 / (1 + e^2x) where approximations are allowed: that is off
/// by some units in the last place of 1, where x is small as well.
struct ExpandFastTanh : OpRewritePattern<math::TanhOp> {
  ExpandFastTanh(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    using arith::FastMathFlags;
    if (!bitEnumContainsAny(op.getFastmath(), FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "must be exact");
    Location loc = op.getLoc();
    Value factor = makeNumber(rewriter, loc, 2 * llvm::numbers::log2e);
    Value one = makeNumber(rewriter, loc, 1);
    Value exponent =
        arith::MulFOp::create(rewriter, loc, op.getOperand(), factor);
    Value power = math::Exp2Op::create(rewriter, loc, exponent);
    Value sum = arith::AddFOp::create(rewriter, loc, power, one);
    Value inverse =
        arith::DivFOp::create(rewriter, loc, one, sum, FastMathFlags::arcp);
    rewriter.replaceOpWithNewOp<math::FmaOp>(
        op, inverse, makeNumber(rewriter, loc, -2), one);
    return success();
  }
};
} // namespace

void evoformer::expandScore(Operation *op) {
  if (op->getNumRegions() == 0)
    return;
  RewritePatternSet patterns(op->getContext());
  patterns.add<ExpandExp, ExpandFastTanh, ExpandLog>(op->getContext());
  populatePolynomialApproximateTanhPattern(patterns);
  walkAndApplyPatterns(op, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// The score of a tile
//===----------------------------------------------------------------------===//

SmallVector<Value> evoformer::applyScore(TileBuilder &builder,
                                         const LogitsSlices &slices,
                                         const LogitsTile &tile, Value scores) {
  return Program(builder, slices, tile, scores).run();
}
