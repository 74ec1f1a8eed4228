//===- CaseReference.cpp - A case's results and the reference's ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReference.h"
#include "CaseRagged.h"
#include "CaseScore.h"
#include "Evoformer/Reference/Attention.h"
#include "Evoformer/Reference/AttentionWeights.h"
#include "Evoformer/Reference/Gradients.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir::evoformer;
using llvm::createStringError;
using llvm::Error;

static reference::ElementType convert(runtime::ElementType type) {
  switch (type) {
  case runtime::ElementType::F16:
    return reference::ElementType::F16;
  case runtime::ElementType::BF16:
    return reference::ElementType::BF16;
  case runtime::ElementType::F64:
    return reference::ElementType::F64;
  case runtime::ElementType::F32:
    return reference::ElementType::F32;
  default:
    return reference::ElementType::I1;
  }
}

static reference::View makeView(const HostArray &array) {
  reference::View view;
  view.data = array.storage.data() +
              array.layout.offset * runtime::getByteSize(array.layout.type);
  view.type = convert(array.layout.type);
  llvm::copy(array.layout.strides, view.strides.begin());
  return view;
}

/// The part of a view from index `at` of dimension `dim`.
static reference::View advance(reference::View view, unsigned dim, int64_t at) {
  view.data = static_cast<const char *>(view.data) +
              at * view.strides[dim] * reference::sizeOf(view.type);
  return view;
}

namespace {
struct Outputs {
  reference::View out;
  std::optional<reference::View> lse, stats, weights;
  /// Of the backward pass.
  reference::View outGradient, query, key, value, gate;
  /// Null data where a bias has no gradient.
  std::vector<reference::View> biases;
};
} // namespace

static reference::AttentionProblem makeProblem(const AttentionCase &problem,
                                               llvm::ArrayRef<HostArray> arrays,
                                               Outputs &outputs) {
  reference::AttentionProblem result;
  result.batch = problem.batch;
  result.rows = problem.rows;
  result.queries = problem.queries;
  result.keys = problem.keys;
  result.heads = problem.heads;
  result.groupSize = problem.groupSize;
  auto makeBound = [](const KeyBound &bound) {
    return reference::KeyBound{bound.coefficient, bound.granule,
                               bound.ofQueries, bound.ofKeys, bound.constant};
  };
  KeyRange seen = problem.getKnownRange();
  if (seen.from)
    result.keysFrom = makeBound(*seen.from);
  if (seen.to)
    result.keysTo = makeBound(*seen.to);
  auto count = [&](auto countOf) {
    reference::Lengths lengths(problem.batch);
    for (auto [b, rows] : llvm::enumerate(lengths))
      for (int64_t n = 0; n < problem.rows; ++n)
        rows.push_back(countOf(problem, arrays, static_cast<int64_t>(b), n));
    return lengths;
  };
  if (problem.keyLengths)
    result.keyLengths = count(countKeys);
  if (problem.queryLengths)
    result.queryLengths = count(countQueries);
  result.depth = problem.depth;
  result.valueDepth = problem.getValueDepth();
  // The op's default is D^-1/2 rounded to f32.
  result.scale = static_cast<float>(problem.scale.value_or(
      1 / std::sqrt(static_cast<double>(problem.depth))));
  result.score = problem.scoreCase;
  result.weights = problem.logitWeights;
  if (problem.dropProbability) {
    reference::Dropout &dropout = result.dropout.emplace();
    dropout.probability = *problem.dropProbability;
    std::tie(dropout.seed, dropout.offset) = getDropoutState(problem);
    dropout.allRows = problem.rows;
    dropout.allHeads = problem.heads;
  }
  size_t next = 0;
  auto take = [&] { return makeView(arrays[next++]); };
  result.query = take();
  result.key = take();
  result.value = take();
  result.sharesBatch = problem.shares('b');
  result.sharesRows = problem.shares('n');
  for (reference::View *view : {&result.key, &result.value}) {
    if (result.sharesBatch)
      view->strides[0] = 0;
    if (result.sharesRows)
      view->strides[1] = 0;
  }
  for (const BiasCase &bias : problem.biases) {
    reference::Bias entry;
    entry.view = take();
    for (auto [i, letter] : llvm::enumerate(llvm::StringRef("bnhqk")))
      entry.broadcast[i] = problem.broadcasts(bias, letter);
    result.biases.push_back(entry);
  }
  if (problem.scoreCase)
    for (llvm::StringRef dims : getCaptures(*problem.scoreCase)) {
      reference::Bias entry;
      entry.view = take();
      BiasCase model;
      model.dims = dims.str();
      for (auto [i, letter] : llvm::enumerate(llvm::StringRef("bnhqk")))
        entry.broadcast[i] = problem.broadcasts(model, letter);
      if (problem.scoreCase->kind == reference::ScoreKind::Table) {
        entry.entries = reference::kTableEntries;
        entry.broadcast[4] = false;
      }
      result.captures.push_back(entry);
    }
  if (problem.gateType)
    result.gate = take();
  next += (problem.keyLengths ? 1 : 0) + (problem.queryLengths ? 1 : 0) +
          (problem.dropProbability ? 1 : 0);
  outputs.out = take();
  if (problem.lse)
    outputs.lse = take();
  if (problem.stats || problem.backward || problem.showsWeights)
    outputs.stats = take();
  if (problem.showsWeights)
    outputs.weights = take();
  if (!problem.backward)
    return result;
  outputs.outGradient = take();
  outputs.query = take();
  outputs.key = take();
  outputs.value = take();
  for (const BiasCase &bias : problem.biases)
    outputs.biases.push_back(
        bias.type == runtime::ElementType::I1 ? reference::View() : take());
  // Captures behind the biases.
  for (size_t i = 0; i < result.captures.size(); ++i)
    outputs.biases.push_back(take());
  if (problem.gateType)
    outputs.gate = take();
  return result;
}

/// Fails unless `comparison` passed.
static Error note(const reference::Comparison &comparison, llvm::StringRef name,
                  CaseReport &report) {
  report.worstRatio = std::max(report.worstRatio, comparison.worstRatio);
  report.medianRatio = std::max(report.medianRatio, comparison.medianRatio);
  report.meanInStandardErrors =
      std::max(report.meanInStandardErrors, comparison.meanInStandardErrors);
  if (comparison.passed())
    return Error::success();
  if (comparison.wrongRows == 0)
    return createStringError("'" + name +
                             "' is wrong: " + comparison.firstWrong);
  return createStringError(llvm::Twine(comparison.wrongRows) + " of " +
                           llvm::Twine(comparison.rows) + " rows of '" + name +
                           "' are wrong; first: " + comparison.firstWrong);
}

/// The gradients; with `partial`, those of biases are sums over more than the
/// rows that are compared.
static Error compareGradients(const AttentionCase &problem,
                              const reference::AttentionProblem &inputs,
                              const Outputs &outputs, bool partial,
                              const reference::Arithmetic &arithmetic,
                              unsigned threads, CaseReport &report) {
  reference::AttentionGradients exact =
      reference::computeGradients(inputs, outputs.outGradient, threads);
  reference::AttentionGradients defined = reference::computeGradients(
      inputs, outputs.outGradient, threads, &outputs.out);
  reference::AttentionGradients eager = reference::computeEagerGradients(
      inputs, outputs.outGradient, convert(problem.type), threads);
  reference::GradientBounds bounds = reference::boundGradients(
      inputs, outputs.outGradient, outputs.out, threads, arithmetic);
  auto compare = [&](const reference::View &view, const std::string &name,
                     auto getArray) {
    reference::Comparison comparison =
        reference::compareGradient(view, getArray(defined), getArray(eager),
                                   getArray(exact), getArray(bounds));
    report.maxError = std::max(report.maxError, comparison.maxError);
    report.maxEagerError =
        std::max(report.maxEagerError, comparison.maxEagerError);
    auto entry = llvm::find_if(report.gradientErrors, [&](const auto &entry) {
      return entry.name == name;
    });
    if (entry == report.gradientErrors.end())
      entry = report.gradientErrors.insert(entry, {name, 0, 0});
    entry->maxError = std::max(entry->maxError, comparison.maxError);
    entry->maxEagerError =
        std::max(entry->maxEagerError, comparison.maxEagerError);
    report.gradientRows += comparison.rows;
    if (comparison.medianShare > 0)
      report.gradientShares.push_back(comparison.medianShare);
    report.luckyRows += comparison.luckyRows;
    report.worstLucky = std::max(report.worstLucky, comparison.worstLucky);
    return note(comparison, name, report);
  };
  if (Error error = compare(outputs.query, "query_grad",
                            [](auto &all) -> auto & { return all.query; }))
    return error;
  if (Error error = compare(outputs.key, "key_grad",
                            [](auto &all) -> auto & { return all.key; }))
    return error;
  if (Error error = compare(outputs.value, "value_grad",
                            [](auto &all) -> auto & { return all.value; }))
    return error;
  if (problem.gateType)
    if (Error error = compare(outputs.gate, "gate_grad",
                              [](auto &all) -> auto & { return all.gate; }))
      return error;
  size_t numBiases = problem.biases.size();
  for (size_t i = 0; i < outputs.biases.size() && !partial; ++i) {
    std::string name = i < numBiases
                           ? "bias" + std::to_string(i)
                           : "capture" + std::to_string(i - numBiases);
    if (outputs.biases[i].data)
      if (Error error =
              compare(outputs.biases[i], name + "_grad",
                      [i](auto &all) -> auto & { return all.biases[i]; }))
        return error;
  }
  return Error::success();
}

static Error compare(const AttentionCase &problem,
                     const reference::AttentionProblem &inputs,
                     const Outputs &outputs,
                     const reference::Arithmetic &arithmetic, unsigned threads,
                     CaseReport &report) {
  reference::AttentionResult exact =
      reference::computeAttention(inputs, threads);
  reference::AttentionResult eager = reference::computeEagerAttention(
      inputs, convert(problem.type), convert(problem.getOutputType()), threads);
  reference::OutputBounds bounds =
      reference::boundOutput(inputs, outputs.out.type, threads, arithmetic);
  reference::Comparison comparison =
      reference::compareOutput(inputs, outputs.out, exact, eager, bounds);
  report.maxError = std::max(report.maxError, comparison.maxError);
  report.maxEagerError =
      std::max(report.maxEagerError, comparison.maxEagerError);
  report.rows += comparison.rows;
  report.beyondPromise += comparison.luckyRows;
  report.medianShare = comparison.medianShare;
  if (Error error = note(comparison, "out", report))
    return error;
  if (outputs.lse)
    if (Error error = note(
            reference::compareLogSumExp(inputs, *outputs.lse, exact, bounds),
            "lse", report))
      return error;
  if (outputs.stats)
    if (Error error = note(reference::compareStats(inputs, *outputs.stats,
                                                   exact.stats, bounds),
                           "stats", report))
      return error;
  if (outputs.weights)
    return note(reference::compareWeights(
                    *outputs.weights,
                    reference::computeWeights(inputs, threads),
                    reference::boundWeights(inputs, threads, arithmetic)),
                "weights", report);
  return Error::success();
}

Error mlir::evoformer::compareCase(const AttentionCase &problem,
                                   llvm::ArrayRef<HostArray> arrays,
                                   const reference::Arithmetic &arithmetic,
                                   unsigned threads, CaseReport &report) {
  if (problem.isRagged())
    return compareCase(getDense(problem), unpack(problem, arrays), arithmetic,
                       threads, report);
  Outputs outputs;
  reference::AttentionProblem inputs = makeProblem(problem, arrays, outputs);
  if (!problem.sample || problem.sample >= problem.rows) {
    if (Error error =
            compare(problem, inputs, outputs, arithmetic, threads, report))
      return error;
    return problem.backward
               ? compareGradients(problem, inputs, outputs, /*partial=*/false,
                                  arithmetic, threads, report)
               : Error::success();
  }
  // Rows from the first to the last, evenly spread.
  for (int64_t i = 0; i < problem.sample; ++i) {
    int64_t row = problem.sample == 1
                      ? problem.rows - 1
                      : i * (problem.rows - 1) / (problem.sample - 1);
    Outputs part = outputs;
    part.out = advance(outputs.out, 1, row);
    if (part.lse)
      part.lse = advance(*outputs.lse, 1, row);
    if (part.stats)
      part.stats = advance(*outputs.stats, 2, row);
    if (part.weights)
      part.weights = advance(*outputs.weights, 1, row);
    for (reference::View *view :
         {&part.outGradient, &part.query, &part.key, &part.value, &part.gate})
      if (view->data)
        *view = advance(*view, 1, row);
    reference::AttentionProblem slice =
        reference::slice(inputs, reference::Dimension::Row, row, 1);
    Error error = compare(problem, slice, part, arithmetic, threads, report);
    if (!error && problem.backward)
      error = compareGradients(problem, slice, part, /*partial=*/true,
                               arithmetic, threads, report);
    if (error)
      return createStringError("row n = " + llvm::Twine(row) + ": " +
                               toString(std::move(error)));
  }
  return Error::success();
}
