//===- ScoreProgram.cpp - A score region on tiles -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScoreProgram.h"

#include "Logits.h"
#include "PlaceSums.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

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
  int size() const { return llvm::popcount(bits); }
  bool operator==(LogitDims other) const { return bits == other.bits; }
  bool operator!=(LogitDims other) const { return bits != other.bits; }
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
    liftAll();
    SmallVector<Value> results =
        llvm::map_to_vector(getYielded(), [&](Value value) {
          return get(value, LogitDims::all());
        });
    if (!slices.score.isTotal)
      results.front() = clearOutside(results.front());
    return results;
  }

  /// sum + factor * what a sum adds to the score.
  Value addSummands(double factor, Value sum) {
    liftAll();
    std::optional<SmallVector<Summand>> summands =
        findSummands(*slices.score.body, getYielded().front());
    for (const Summand &summand : *summands) {
      Lifted first = values.at(summand.value), second;
      if (summand.times) {
        second = values.at(summand.times);
        // The factor goes to what there is less of.
        if (second.dims.size() < first.dims.size())
          std::swap(first, second);
      }
      Value a = widen(multiply(first, summand.isNegative ? -factor : factor),
                      LogitDims::all());
      if (!summand.times) {
        sum = sum ? builder.addf(sum, a) : a;
        continue;
      }
      Value b = widen(second, LogitDims::all());
      sum = sum ? builder.fma(a, b, sum) : builder.mulf(a, b);
    }
    return sum;
  }

  /// A term of a sum: a value, or the product of two.
  struct Summand {
    Value value, times;
    bool isNegative = false;
  };

  /// What a value adds to the score, to which nothing else is done; nothing
  /// where that is not so.
  static std::optional<SmallVector<Summand>> findSummands(Block &body,
                                                          Value value) {
    DenseSet<Value> ofScore = {body.getArgument(0)};
    for (Operation &op : body)
      if (llvm::any_of(op.getOperands(), [&](Value operand) {
            return ofScore.contains(operand);
          }))
        ofScore.insert(op.result_begin(), op.result_end());
    SmallVector<Summand> summands;
    while (value != body.getArgument(0)) {
      Operation *op = value.getDefiningOp();
      if (!op || !ofScore.contains(value))
        return std::nullopt;
      auto onlyIn = [&](unsigned which) {
        for (auto [number, operand] : llvm::enumerate(op->getOperands()))
          if (ofScore.contains(operand) != (number == which))
            return false;
        return true;
      };
      if (isa<math::FmaOp>(op) && onlyIn(2)) {
        summands.push_back({op->getOperand(0), op->getOperand(1)});
        value = op->getOperand(2);
      } else if (isa<arith::AddFOp, arith::SubFOp>(op) && onlyIn(0)) {
        summands.push_back({op->getOperand(1), {}, isa<arith::SubFOp>(op)});
        value = op->getOperand(0);
      } else if (isa<arith::AddFOp>(op) && onlyIn(1)) {
        summands.push_back({op->getOperand(0), {}});
        value = op->getOperand(1);
      } else {
        return std::nullopt;
      }
    }
    return summands;
  }

private:
  struct Lifted {
    Value value;
    LogitDims dims;
  };

  static bool isArgument(BlockArgument argument, ScoreArgument which) {
    return argument.getArgNumber() == static_cast<unsigned>(which);
  }
  OperandRange getYielded() const {
    return slices.score.body->getTerminator()->getOperands();
  }

  void liftAll() {
    Block &body = *slices.score.body;
    for (BlockArgument argument : body.getArguments()) {
      // A sum is made without the score.
      if (argument.use_empty() ||
          (isArgument(argument, ScoreArgument::Score) && !scores))
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
    for (Operation &op : body.without_terminator()) {
      // Without the score, what depends on it is not written.
      if (!scores && llvm::any_of(op.getOperands(), [&](Value operand) {
            return !values.contains(operand) &&
                   !isa<VectorType>(operand.getType());
          }))
        continue;
      if (auto lookup = dyn_cast<LookupOp>(op))
        define(lookup, lookUp(lookup));
      else if (!convertDistance(op))
        lift(op);
    }
  }

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

  int64_t getSize(LogitDim dim) const {
    return tile.shape[tile.getPosition(dim)];
  }
  Value firstOf(Value start, LogitDim dim) {
    return builder.add(start, tile.offsets[static_cast<unsigned>(dim)]);
  }
  Value makeIndices(Value first, int64_t size) {
    auto type = RankedTensorType::get({size}, builder.getI32Type());
    return tile::IotaOp::create(builder, type, first, /*dim=*/0);
  }

  Lifted readIndex(Value start, LogitDim dim) {
    Value first = firstOf(start, dim);
    int64_t size = getSize(dim);
    if (size == 1)
      return {toI32(first), {}};
    return {makeIndices(first, size), dim};
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

  /// factor * it.
  Lifted multiply(const Lifted &lifted, double factor) {
    if (factor == 1)
      return lifted;
    Value number = arith::ConstantOp::create(
        builder, builder.getF32FloatAttr(static_cast<float>(factor)));
    return {builder.mulf(lifted.value, asTile(number, lifted.value)),
            lifted.dims};
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

  //===--------------------------------------------------------------------===//
  // Distances
  //===--------------------------------------------------------------------===//

  /// A number, repeated if `like` is a tile.
  Value asTile(Value number, Value like) {
    auto type = dyn_cast<RankedTensorType>(like.getType());
    return type ? tensor::SplatOp::create(builder, type, number).getResult()
                : number;
  }

  Value toF32(Value number) {
    auto type = dyn_cast<RankedTensorType>(number.getType());
    Type f32 = builder.getF32Type();
    return arith::SIToFPOp::create(builder, type ? type.clone(f32) : f32,
                                   number);
  }

  /// What a sum has for a whole tile, the places of its first query and key
  /// among it; null: one of its terms differs in the tile.
  Value sumOfTile(const PlaceSum &sum) {
    Value total = makeInteger(sum.constant, {});
    for (unsigned number = 1; number < kNumScoreArguments; ++number) {
      if (sum.factors[number] == 0)
        continue;
      auto argument = static_cast<ScoreArgument>(number);
      Value term;
      if (argument == ScoreArgument::Query) {
        term = toI32(firstOf(place.query, LogitDim::Queries));
      } else if (argument == ScoreArgument::Key) {
        term = toI32(firstOf(place.key, LogitDim::Keys));
      } else {
        const Lifted &lifted =
            values.at(slices.score.body->getArgument(number));
        if (!lifted.dims.empty())
          return {};
        term = lifted.value;
      }
      if (sum.factors[number] != 1)
        term = arith::MulIOp::create(builder, term,
                                     makeInteger(sum.factors[number], {}));
      total = arith::AddIOp::create(builder, total, term);
    }
    return total;
  }

  /// Writes how far apart queries and keys are as a sum of numbers of f32:
  /// integers of a pair each would take an instruction to convert. Those of
  /// places in a tile are small, and what the whole tile has is large only
  /// where all distances are, so that these have all of their digits.
  bool convertDistance(Operation &op) {
    if (!isa<arith::SIToFPOp>(op) ||
        values.at(op.getOperand(0)).dims != LogitDims::all())
      return false;
    std::optional<PlaceSum> sum = sums.find(op.getOperand(0));
    if (!sum || sum->factorOf(ScoreArgument::Query) == 0 ||
        sum->factorOf(ScoreArgument::Key) == 0)
      return false;
    Value ofTile = sumOfTile(*sum);
    if (!ofTile)
      return false;
    // Packed instructions are made of differences that are written as such.
    auto addPlaces = [&](const Lifted &total, LogitDim dim) -> Lifted {
      auto factor = static_cast<double>(
          sum->factorOf(dim == LogitDim::Queries ? ScoreArgument::Query
                                                 : ScoreArgument::Key));
      Value places = makeIndices(builder.index(0), getSize(dim));
      Lifted some = multiply({toF32(places), dim}, std::abs(factor));
      LogitDims dims = total.dims | some.dims;
      Value a = widen(total, dims), b = widen(some, dims);
      return {factor < 0 ? builder.subf(a, b) : builder.addf(a, b), dims};
    };
    // What the tile has goes to the places that a lane has few of.
    LogitDim few = LogitDim::Queries, many = LogitDim::Keys;
    if (tile.keysFirst)
      std::swap(few, many);
    define(op.getResult(0),
           addPlaces(addPlaces({toF32(ofTile), {}}, few), many));
    return true;
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
  PlaceSums sums;
  DenseMap<Value, Lifted> values;
};
} // namespace

//===----------------------------------------------------------------------===//
// The score of a tile
//===----------------------------------------------------------------------===//

bool evoformer::isScoreSum(Block &body) {
  OperandRange yielded = body.getTerminator()->getOperands();
  // With a derivative that is not the sum's by the score it is another's.
  for (Value more : llvm::drop_begin(yielded))
    if (!matchPattern(more, m_OneFloat()))
      return false;
  return Program::findSummands(body, yielded.front()).has_value();
}

Value evoformer::addScoreSummands(TileBuilder &builder,
                                  const LogitsSlices &slices,
                                  const LogitsTile &tile, double factor,
                                  Value sum) {
  return Program(builder, slices, tile, /*scores=*/{}).addSummands(factor, sum);
}

SmallVector<Value> evoformer::applyScore(TileBuilder &builder,
                                         const LogitsSlices &slices,
                                         const LogitsTile &tile, Value scores) {
  return Program(builder, slices, tile, scores).run();
}
