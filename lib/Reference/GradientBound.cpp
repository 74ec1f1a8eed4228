//===- GradientBound.cpp - What roundings make of gradients ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of the backward kernels, each with its declared roundings. Letters
// are those of docs/rationale/error-bound.md: p a weight, w the gradient of the
// weighted sum of values o, a = <w, v> - delta, s = p a the gradient of a
// logit.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Gradients.h"
#include "WeightErrors.h"
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>

using namespace mlir::evoformer::reference;

/// What sums over a query's keys have beside |a|^2 + |b|^2, a of weights made
/// again and b of the statistics, which may be of the same draws: |a + b|^2 is
/// at most twice that. Of one key it is no more, since the statistics take away
/// what its weight has: s (d_j - sum p_k d_k) has the mean square
/// s^2 (1 - 2 p_j + sum p_k^2) of d's.
static constexpr double kDependent = 1;

static constexpr Rounding kNoFactor = {0, 0, 0};

namespace {
/// A gradient's element, summed in the order of its terms.
struct ElementSum {
  explicit ElementSum(const PartialSums &start) : sum(start) {}

  void add(double term) { sum.add(term); }
  /// A term of which a product takes a factor for 0: no draw, the sum lacks it.
  void addVanished(double term) {
    sum.add(term);
    vanished += term;
  }
  void add(const ErrorSum &of, double factor) { errors.add(of, factor); }
  /// Of draws that other rows of the gradient have as well.
  void addCommon(const ErrorSum &of, double factor) {
    errors.add(of, factor);
    common += of.square * factor * factor;
  }

  /// After the sum has been multiplied by a factor.
  ElementErrors get(const Rounding &ofFactor) const {
    ErrorSum all = errors;
    all.add(sum.error, 1);
    all.add(ofFactor, sum.getTotal());
    all.shared += std::fabs(vanished);
    return {all.square, all.most, all.getShared(), all.flushed,
            common,     lost,     mayBeInfinite};
  }

  PartialSums sum;
  ErrorSum errors;
  double common = 0, lost = 0, vanished = 0;
  bool mayBeInfinite = false;
};

/// The bias gradients' sums, to which heads add in their order.
class BiasSums {
public:
  BiasSums(const AttentionProblem &problem)
      : problem(problem), all(problem.getAllBiases()) {
    for (const Bias &bias : all) {
      sums.emplace_back();
      if (bias.view.type == ElementType::I1)
        continue;
      const int64_t sizes[] = {problem.batch, problem.rows, problem.heads,
                               problem.queries,
                               bias.entries ? bias.entries : problem.keys};
      int64_t count = 1;
      for (int dim = 0; dim < 5; ++dim)
        count *= bias.broadcast[dim] ? 1 : sizes[dim];
      sums.back().assign(count, ElementSum(PartialSums(kSingleOutputSum)));
    }
  }

  /// Of bias `index`, the element of a logit; null where it has no gradient.
  ElementSum *find(size_t index, int64_t b, int64_t n, int64_t h, int64_t i,
                   int64_t j) {
    if (sums[index].empty())
      return nullptr;
    const std::array<bool, 5> &broadcast = all[index].broadcast;
    const Bias &bias = all[index];
    const int64_t sizes[] = {problem.batch, problem.rows, problem.heads,
                             problem.queries,
                             bias.entries ? bias.entries : problem.keys};
    const int64_t place[] = {b, n, h, i, problem.findKey(bias, i, j)};
    int64_t at = 0;
    for (int dim = 0; dim < 5; ++dim)
      if (!broadcast[dim])
        at = at * sizes[dim] + place[dim];
    return &sums[index][at];
  }

  const AttentionProblem &problem;
  /// And behind the biases what is captured.
  std::vector<Bias> all;
  std::vector<std::vector<ElementSum>> sums;
};

/// What one query's logits add to the biases' gradients.
struct LogitErrors {
  /// The gradients s of logits, their own errors, and what a weight that is
  /// lost makes of them.
  std::vector<double> gradients, lost;
  std::vector<ErrorSum> own;
  /// Those that may be NaN instead.
  std::vector<uint8_t> sunk;
  /// What the squares of their weights' errors are more in sums over keys.
  std::vector<double> dependent;
  /// Errors that all logits of the query have in common: alike for each, and
  /// those of their sum.
  std::vector<ErrorSum> common;
  ErrorSum ofSum;
  /// By which a capture's gradient is more than the logits': the derivatives by
  /// it; what its terms' own errors are then, and those of their sum.
  std::vector<double> factors;
  std::vector<ErrorSum> ofCapture;
  ErrorSum ofCaptureSum;
};

/// One head, query by query.
class GradientHeadBound {
public:
  GradientHeadBound(const AttentionProblem &problem, const View &outputGradient,
                    const View &output, const Arithmetic &arithmetic, int64_t b,
                    int64_t n, int64_t h)
      : problem(problem), outputGradient(outputGradient), output(output), b(b),
        n(n), h(h), errors(problem, arithmetic, b, n, h), head(errors.head),
        type(errors.type),
        isWeightedStored(problem.gate ||
                         outputGradient.type != problem.query.type),
        queries(problem.queries * problem.depth),
        gates(problem.gate ? problem.queries * problem.valueDepth : 0),
        keys(problem.keys * problem.depth, ElementSum(startSum())),
        values(problem.keys * problem.valueDepth, ElementSum(startSum())),
        logits(problem.queries) {}

  void run() {
    for (int64_t i = 0; i < problem.queries; ++i) {
      if (errors.compute(i))
        boundQuery(i);
      if (i < problem.countQueries(b, n))
        markInfinities(i);
    }
  }

  /// Sums of keys and values go on from those of another head that shares them.
  void goOnFrom(GradientHeadBound &&other) {
    keys = std::move(other.keys);
    values = std::move(other.values);
  }

  void addBiases(BiasSums &biases) const;

  const Rounding &gradientScale() const {
    return problem.query.type == ElementType::BF16 ? kGradientScale
                                                   : kExactGradientScale;
  }

private:
  PartialSums startSum() const {
    return PartialSums(type.usesFMA ? kSingleOutputSum : kOutputSum,
                       type.isSingle ? kKeysOfPart : 0, 0, type.ofProduct);
  }
  double valueAt(int64_t j, int64_t e) const {
    return head.inputs.value[j * problem.valueDepth + e];
  }
  double keyAt(int64_t j, int64_t d) const {
    return head.inputs.keyTransposed[d * problem.keys + j];
  }
  /// With what dropout multiplies the key's weight by.
  double countedValueAt(int64_t j, int64_t e) const {
    return valueAt(j, e) * head.dropFactors[j];
  }

  /// w, o and delta with their errors, and the gate's gradient.
  void boundDelta(int64_t i);
  /// The error of a = <w, v> - delta that only key j has; sets a.
  ErrorSum boundDifference(int64_t j, double &difference) const;
  void boundQuery(int64_t i);
  void boundValues(int64_t i, int64_t j, const ErrorSum &ofWeight);
  void boundQueryGradient(int64_t i);
  /// A product over all keys, or queries, multiplies an infinity by the 0 of a
  /// key that query i drops (docs/nan-and-inf.md). What a key bias drops is
  /// cleared.
  void markInfinities(int64_t i);
  /// What a capture's gradient has of the query.
  void boundCapture(int64_t i);
  void addCapture(BiasSums &biases) const;

  const AttentionProblem &problem;
  const View &outputGradient, &output;
  int64_t b, n, h;
  WeightErrors errors;
  const HeadWeights &head;
  const OperandType &type;
  /// The gradient of the weighted sum is a tensor of its own, rounded.
  bool isWeightedStored;

  /// Of one query.
  std::vector<double> weighted, before;
  std::vector<ErrorSum> weightedErrors;
  double delta = 0;
  ErrorSum deltaError, statistics;
  /// Of each key: what the products see of s, errors of its own; whether that
  /// is 0.
  std::vector<ErrorSum> narrowed;
  std::vector<bool> vanishes;

public:
  std::vector<ElementErrors> queries, gates;
  std::vector<ElementSum> keys, values;
  std::vector<LogitErrors> logits;
};
} // namespace

void GradientHeadBound::boundDelta(int64_t i) {
  int64_t depth = problem.valueDepth;
  weighted.assign(depth, 0);
  before.assign(depth, 0);
  weightedErrors.assign(depth, {});
  delta = 0;
  PartialSums sum(kSingleScoreSum);
  deltaError = {};
  for (int64_t e = 0; e < depth; ++e) {
    double gradient = outputGradient.at(b, n, i, h, e);
    double result = output.at(b, n, i, h, e), term = gradient * result;
    ErrorSum &error = weightedErrors[e];
    weighted[e] = gradient;
    before[e] = result;
    if (problem.gate) {
      double gate = problem.gate->at(b, n, i, h, e), factor = sigmoid(gate);
      weighted[e] = gradient * factor;
      before[e] = factor == 0 ? 0 : result / factor;
      // 1 + 2^-x, by which both are divided and multiplied.
      ErrorSum inverse;
      if (std::isfinite(gate))
        inverse.add(kGateExponent, gate * sigmoid(-gate));
      inverse.add(kGate, 1);
      error.add(inverse, weighted[e]);
      deltaError.add(inverse, term);
      // Infinite in f32.
      if (factor * std::numeric_limits<float>::max() < 1) {
        error.shared += std::fabs(weighted[e]);
        deltaError.shared += std::fabs(term);
      }
      ErrorSum ofGate;
      double gradientOfGate = term * sigmoid(-gate);
      if (std::isfinite(gate))
        ofGate.add(kGateExponent, gradientOfGate * gate * factor);
      ofGate.add(kGate, gradientOfGate);
      gates[i * depth + e] = {ofGate.square, ofGate.most, ofGate.getShared(), 0,
                              0};
    }
    if (isWeightedStored) {
      double unit = type.isSingle ? kSingle : type.unit;
      error.add(kNarrowing, weighted[e], unit);
      error.add(kUnderflow, 1, type.smallest);
    }
    delta += term;
    sum.add(term);
    deltaError.add(kDeltaTerm, term);
  }
  deltaError.add(sum.error, 1);
  deltaError = deltaError.ofEarlier();
  if (!head.areLogits())
    return;
  delta = 0;
  deltaError = {};
  before.assign(depth, 0);
}

ErrorSum GradientHeadBound::boundDifference(int64_t j,
                                            double &difference) const {
  int64_t depth = problem.valueDepth;
  bool inParts = type.isSingle && depth > kLongDepth;
  PartialSums sum(type.usesFMA ? kSingleScoreSum : kScoreSum,
                  inParts ? kDepthOfPart : 0, -delta, type.ofProduct);
  difference = -delta;
  if (head.dropFactors[j] == 0)
    return {};
  double total = 0, squares = 0;
  for (int64_t e = 0; e < depth; ++e) {
    double product = weighted[e] * countedValueAt(j, e);
    difference += product;
    sum.add(product);
    if (type.isFlushed(weighted[e]) || type.isFlushed(valueAt(j, e)))
      sum.error.addFlushed(product);
    total += product;
    squares += product * product;
  }
  if (type.usesFMA && !inParts) {
    ErrorSum any =
        boundAnyOrder(kSingleScoreSum, -delta, total, squares, depth);
    sum.error.square = std::max(sum.error.square, any.square);
    sum.error.most = std::max(sum.error.most, any.most);
  }
  if (problem.dropout)
    sum.error.add(kDropFactor, difference + delta);
  return sum.error;
}

void GradientHeadBound::boundValues(int64_t i, int64_t j,
                                    const ErrorSum &ofWeight) {
  double weight = head.getWeight(j), factor = head.dropFactors[j];
  if (factor == 0)
    return;
  ErrorSum all = ofWeight;
  bool vanishes = errors.hasDigits && type.vanishes(weight, ofWeight);
  if (!type.isSingle && !vanishes) {
    all.add(kWeight, weight, type.unit);
    all.add(kUnderflow, 1, type.smallest);
    if (head.areLogits() && type.isFlushed(weight))
      all.addFlushed(weight);
  }
  for (int64_t e = 0; e < problem.valueDepth; ++e) {
    ElementSum &sum = values[j * problem.valueDepth + e];
    double counted = weighted[e] * factor;
    if (vanishes) {
      sum.addVanished(weight * counted);
      continue;
    }
    sum.add(weight * counted);
    sum.add(all, counted);
    sum.addCommon(weightedErrors[e], weight * factor);
    if (type.isFlushed(weighted[e]))
      sum.errors.addFlushed(weight * counted);
    if (!errors.hasDigits)
      sum.lost += errors.getLargestWeight(j) * std::fabs(counted);
  }
}

void GradientHeadBound::boundQuery(int64_t i) {
  boundDelta(i);
  statistics = errors.ofStatistics();
  LogitErrors &row = logits[i];
  row.gradients.assign(problem.keys, 0);
  row.sunk = head.sunk;
  row.lost.assign(problem.keys, 0);
  row.own.assign(problem.keys, {});
  row.dependent.assign(problem.keys, 0);
  row.common.assign(problem.keys, {});
  row.ofSum = {};
  narrowed.assign(problem.keys, {});
  vanishes.assign(problem.keys, false);
  double sumOfGradients = 0, sumOfSlopes = 0;
  std::vector<double> spreads(problem.valueDepth);
  for (int64_t j = 0; j < problem.keys; ++j) {
    if (!head.kept[j])
      continue;
    // The former of the weighted sum, the latter of the logit's gradient.
    double weight = head.getWeight(j), share = head.slopeOf(j), difference;
    ErrorSum ofDifference = boundDifference(j, difference);
    double gradient = row.gradients[j] = share * difference;
    ErrorSum ofWeight = errors.ofWeightAgain(j);
    ErrorSum &own = row.own[j], &common = row.common[j];
    if (!head.areLogits())
      own.add(ofWeight, difference);
    row.dependent[j] = kDependent * own.square;
    own.add(ofDifference, share);
    own.add(kProduct, gradient);
    common.add(statistics, gradient);
    common.add(deltaError, share);
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      double spread = share * (countedValueAt(j, e) - before[e]);
      common.add(weightedErrors[e], spread);
      spreads[e] += spread;
    }
    if (!errors.hasDigits)
      row.lost[j] = errors.getLargestWeight(j) * std::fabs(difference);
    sumOfGradients += gradient;
    sumOfSlopes += share;
    // Of the scaled score.
    double derivative = head.getDerivative(j), ofScore = gradient * derivative;
    narrowed[j] = own;
    if (problem.score) {
      narrowed[j] = {};
      narrowed[j].add(own, derivative);
      narrowed[j].add(errors.derivatives[j], gradient);
      narrowed[j].add(kProduct, ofScore);
    }
    vanishes[j] = errors.hasDigits && type.vanishes(ofScore, narrowed[j]);
    if (!type.isSingle) {
      narrowed[j].add(type.cutsOffGradients ? kCutOffGradient : kNarrowing,
                      ofScore, type.unit);
      narrowed[j].add(kUnderflow, 1, type.smallest);
      if (type.isFlushed(ofScore))
        narrowed[j].addFlushed(ofScore);
    }
    for (int64_t d = 0; d < problem.depth; ++d) {
      double query = head.inputs.query[i * problem.depth + d];
      double factor = problem.scale * query;
      ElementSum &sum = keys[j * problem.depth + d];
      if (vanishes[j]) {
        sum.addVanished(ofScore * factor);
        continue;
      }
      sum.add(ofScore * factor);
      sum.add(narrowed[j], factor);
      sum.addCommon(common, derivative * factor);
      if (type.isFlushed(query))
        sum.errors.addFlushed(ofScore * factor);
      sum.lost += row.lost[j] * std::fabs(derivative * factor);
    }
    ofWeight.add(statistics, weight);
    boundValues(i, j, ofWeight);
  }
  row.ofSum.add(statistics, sumOfGradients);
  row.ofSum.square +=
      kDependent * statistics.square * sumOfGradients * sumOfGradients;
  for (double square : row.dependent)
    row.ofSum.square += square;
  row.ofSum.add(deltaError, sumOfSlopes);
  for (int64_t e = 0; e < problem.valueDepth; ++e)
    row.ofSum.add(weightedErrors[e], spreads[e]);
  boundQueryGradient(i);
  if (!problem.captures.empty())
    boundCapture(i);
}

void GradientHeadBound::boundCapture(int64_t i) {
  LogitErrors &row = logits[i];
  row.factors.assign(problem.keys, 0);
  row.ofCapture.assign(problem.keys, {});
  row.ofCaptureSum = {};
  std::vector<double> spreads(problem.valueDepth);
  double result = 0, ofDelta = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    if (!head.kept[j])
      continue;
    double factor = row.factors[j] = head.results[j].byCapture;
    double term = row.gradients[j] * factor;
    ErrorSum &own = row.ofCapture[j];
    own.add(row.own[j], factor);
    own.add(errors.captureDerivatives[j], row.gradients[j]);
    own.add(kProduct, term);
    row.ofCaptureSum.square += row.dependent[j] * factor * factor;
    result += term;
    ofDelta += head.slopeOf(j) * factor;
    for (int64_t e = 0; e < problem.valueDepth; ++e)
      spreads[e] +=
          head.slopeOf(j) * factor * (countedValueAt(j, e) - before[e]);
  }
  row.ofCaptureSum.add(statistics, result);
  row.ofCaptureSum.square += kDependent * statistics.square * result * result;
  row.ofCaptureSum.add(deltaError, ofDelta);
  for (int64_t e = 0; e < problem.valueDepth; ++e)
    row.ofCaptureSum.add(weightedErrors[e], spreads[e]);
}

void GradientHeadBound::addCapture(BiasSums &biases) const {
  size_t index = problem.biases.size();
  bool sumsKeys = problem.captures.front().broadcast[4];
  for (int64_t i = 0; i < problem.queries; ++i) {
    const LogitErrors &row = logits[i];
    ElementSum *sum = nullptr;
    for (int64_t j = 0; j < static_cast<int64_t>(row.factors.size()); ++j) {
      sum = biases.find(index, b, n, h, i, j);
      sum->add(row.gradients[j] * row.factors[j]);
      sum->add(row.ofCapture[j], 1);
      sum->lost += row.lost[j] * std::fabs(row.factors[j]);
      // Of keys of a query that share an entry they add up.
      if (problem.captures.front().entries)
        sum->errors.shared +=
            row.common[j].getBound() * std::fabs(row.factors[j]);
      else if (!sumsKeys)
        sum->add(row.common[j], row.factors[j]);
    }
    if (sum && sumsKeys)
      sum->add(row.ofCaptureSum, 1);
  }
}

void GradientHeadBound::boundQueryGradient(int64_t i) {
  const LogitErrors &row = logits[i];
  std::vector<double> spreads(problem.valueDepth);
  for (int64_t d = 0; d < problem.depth; ++d) {
    ElementSum sum(startSum());
    double result = 0, ofDelta = 0;
    spreads.assign(problem.valueDepth, 0);
    for (int64_t j = 0; j < problem.keys; ++j) {
      if (!head.kept[j])
        continue;
      double key = keyAt(j, d), ofScore = problem.scale * key;
      // By which it changes with the logit.
      double factor = ofScore * head.getDerivative(j);
      double term = row.gradients[j] * factor;
      result += term;
      ofDelta += head.slopeOf(j) * factor;
      if (vanishes[j]) {
        sum.addVanished(term);
        continue;
      }
      sum.add(term);
      sum.add(narrowed[j], ofScore);
      sum.errors.square += row.dependent[j] * factor * factor;
      if (type.isFlushed(key))
        sum.errors.addFlushed(term);
      sum.lost += row.lost[j] * std::fabs(factor);
      if (isWeightedStored)
        for (int64_t e = 0; e < problem.valueDepth; ++e)
          spreads[e] +=
              head.slopeOf(j) * factor * (countedValueAt(j, e) - before[e]);
    }
    sum.add(statistics, result);
    sum.errors.square += kDependent * statistics.square * result * result;
    sum.add(deltaError, ofDelta);
    for (int64_t e = 0; e < problem.valueDepth; ++e)
      sum.add(weightedErrors[e], spreads[e]);
    queries[i * problem.depth + d] = sum.get(gradientScale());
  }
}

void GradientHeadBound::addBiases(BiasSums &biases) const {
  for (size_t index = 0; index < problem.biases.size(); ++index) {
    const std::array<bool, 5> &summed = problem.biases[index].broadcast;
    bool sumsKeys = summed[4];
    bool isNarrow = type.sumsNarrowGradients && summed[1] &&
                    (!summed[2] || problem.heads == 1) &&
                    (!summed[3] || problem.queries == 1) &&
                    (!sumsKeys || problem.keys == 1);
    for (int64_t i = 0; i < problem.queries; ++i) {
      const LogitErrors &row = logits[i];
      ElementSum *sum = nullptr;
      for (int64_t j = 0; j < static_cast<int64_t>(row.own.size()); ++j) {
        sum = biases.find(index, b, n, h, i, j);
        if (!sum)
          break;
        sum->add(row.gradients[j]);
        sum->add(row.own[j], 1);
        sum->lost += row.lost[j];
        sum->mayBeInfinite |= row.sunk[j] != 0;
        if (!sumsKeys)
          sum->add(row.common[j], 1);
        if (!isNarrow)
          continue;
        ErrorSum narrow;
        narrow.add(type.cutsOffGradients ? kCutOffGradient : kNarrowing,
                   row.gradients[j], type.unit);
        narrow.add(kUnderflow, 1, type.smallest);
        sum->add(narrow, 1);
      }
      if (sum && sumsKeys)
        sum->add(row.ofSum, 1);
    }
  }
  if (!problem.captures.empty())
    addCapture(biases);
}

void GradientHeadBound::markInfinities(int64_t i) {
  for (int64_t j = 0; j < problem.keys; ++j) {
    if (head.kept[j] || !head.biases.keepsForAll(j))
      continue;
    if (head.sunk[j])
      for (int64_t e = 0; e < problem.valueDepth; ++e)
        values[j * problem.valueDepth + e].mayBeInfinite = true;
    for (int64_t d = 0; d < problem.depth; ++d) {
      int64_t ofQuery = i * problem.depth + d;
      queries[ofQuery].mayBeInfinite |= std::isinf(keyAt(j, d));
      keys[j * problem.depth + d].mayBeInfinite |=
          std::isinf(head.inputs.query[ofQuery]);
    }
  }
}

GradientBounds mlir::evoformer::reference::boundGradients(
    const AttentionProblem &problem, const View &outputGradient,
    const View &output, unsigned threads, const Arithmetic &arithmetic) {
  GradientBounds bounds;
  int64_t queryRows = problem.batch * problem.rows * problem.queries;
  int64_t sharedBatch = problem.sharesBatch ? problem.batch : 1;
  int64_t sharedRows = problem.sharesRows ? problem.rows : 1;
  int64_t rowsOfKeys = problem.sharesRows ? 1 : problem.rows;
  int64_t keyRows =
      (problem.sharesBatch ? 1 : problem.batch) * rowsOfKeys * problem.keys;
  int64_t keyHeads = problem.heads / problem.groupSize;
  bounds.query.resize(queryRows * problem.heads * problem.depth);
  bounds.key.resize(keyRows * keyHeads * problem.depth);
  bounds.value.resize(keyRows * keyHeads * problem.valueDepth);
  if (problem.gate)
    bounds.gate.resize(queryRows * problem.heads * problem.valueDepth);
  BiasSums biases(problem);
  // Sums over heads are in their order, whichever thread has them; those that
  // share keys are one thread's.
  std::mutex mutex;
  std::condition_variable isNext;
  int64_t next = 0;
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t first) {
    if (first % problem.groupSize != 0 || (problem.sharesBatch && b != 0) ||
        (problem.sharesRows && n != 0))
      return;
    auto place = [&](GradientErrors &to, int64_t row, int64_t length,
                     int64_t heads, int64_t h, int64_t depth, auto get) {
      for (int64_t s = 0; s < length; ++s)
        for (int64_t d = 0; d < depth; ++d)
          to[((row * length + s) * heads + h) * depth + d] = get(s * depth + d);
    };
    std::vector<std::unique_ptr<GradientHeadBound>> group;
    auto addMember = [&](int64_t ofBatch, int64_t ofRow, int64_t h) {
      auto member = std::make_unique<GradientHeadBound>(
          problem, outputGradient, output, arithmetic, ofBatch, ofRow, h);
      GradientHeadBound &head = *member;
      if (!group.empty())
        head.goOnFrom(std::move(*group.back()));
      group.push_back(std::move(member));
      head.run();
      int64_t row = ofBatch * problem.rows + ofRow;
      place(bounds.query, row, problem.queries, problem.heads, h, problem.depth,
            [&](int64_t at) { return head.queries[at]; });
      if (problem.gate)
        place(bounds.gate, row, problem.queries, problem.heads, h,
              problem.valueDepth, [&](int64_t at) { return head.gates[at]; });
    };
    for (int64_t ofBatch = b; ofBatch < b + sharedBatch; ++ofBatch)
      for (int64_t ofRow = n; ofRow < n + sharedRows; ++ofRow)
        for (int64_t h = first; h < first + problem.groupSize; ++h)
          addMember(ofBatch, ofRow, h);
    GradientHeadBound &last = *group.back();
    int64_t keyHead = first / problem.groupSize, row = b * rowsOfKeys + n;
    place(bounds.key, row, problem.keys, keyHeads, keyHead, problem.depth,
          [&](int64_t at) { return last.keys[at].get(last.gradientScale()); });
    place(bounds.value, row, problem.keys, keyHeads, keyHead,
          problem.valueDepth, [&](int64_t at) {
            return last.values[at].get(problem.dropout ? kDropFactor
                                                       : kNoFactor);
          });
    std::unique_lock<std::mutex> lock(mutex);
    int64_t own = row * keyHeads + keyHead;
    isNext.wait(lock, [&] { return next == own; });
    for (const auto &head : group)
      head->addBiases(biases);
    ++next;
    isNext.notify_all();
  });
  for (const std::vector<ElementSum> &sums : biases.sums) {
    bounds.biases.emplace_back();
    for (const ElementSum &sum : sums)
      bounds.biases.back().push_back(sum.get(kNoFactor));
  }
  return bounds;
}
