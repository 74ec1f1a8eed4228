//===- Head.cpp - One head of one row -------------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Head.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

using namespace mlir::evoformer::reference;

View mlir::evoformer::reference::makeDenseView(
    const void *data, ElementType type, const std::vector<int64_t> &sizes,
    const std::vector<int> &order) {
  View view;
  view.data = data;
  view.type = type;
  int64_t stride = 1;
  for (auto position = static_cast<int64_t>(sizes.size()) - 1; position >= 0;
       --position) {
    auto dim = order.empty() ? position : order[position];
    view.strides[dim] = stride;
    stride *= sizes[dim];
  }
  return view;
}

static void advance(View &view, int dim, int64_t begin) {
  view.data = static_cast<const char *>(view.data) +
              begin * view.strides[dim] * sizeOf(view.type);
}

AttentionProblem
mlir::evoformer::reference::slice(const AttentionProblem &problem,
                                  Dimension dimension, int64_t begin,
                                  int64_t size) {
  AttentionProblem part = problem;
  // The dimension of sequences and of biases that is cut; -1 for none.
  int ofQueries = 0, ofKeys = 0, ofBiases = 0;
  switch (dimension) {
  case Dimension::Batch:
    part.batch = size;
    if (part.score)
      part.score->firstBatch += begin;
    if (part.dropout)
      part.dropout->firstBatch += begin;
    for (Lengths *lengths : {&part.keyLengths, &part.queryLengths})
      if (!lengths->empty())
        *lengths =
            Lengths(lengths->begin() + begin, lengths->begin() + begin + size);
    break;
  case Dimension::Row:
    part.rows = size;
    if (part.score)
      part.score->firstRow += begin;
    if (part.dropout)
      part.dropout->firstRow += begin;
    for (Lengths *lengths : {&part.keyLengths, &part.queryLengths})
      for (std::vector<int64_t> &rows : *lengths)
        rows = std::vector<int64_t>(rows.begin() + begin,
                                    rows.begin() + begin + size);
    ofQueries = ofKeys = ofBiases = 1;
    break;
  case Dimension::Head:
    part.heads = size;
    if (part.score)
      part.score->firstHead += begin;
    if (part.dropout)
      part.dropout->firstHead += begin;
    ofQueries = ofKeys = 3;
    ofBiases = 2;
    break;
  case Dimension::Query:
    part.queries = size;
    part.firstQuery += begin;
    part.allQueries = problem.allQueries ? problem.allQueries : problem.queries;
    ofQueries = 2;
    ofKeys = -1;
    ofBiases = 3;
    break;
  }
  advance(part.query, ofQueries, begin);
  if (part.gate)
    advance(*part.gate, ofQueries, begin);
  if (ofKeys >= 0) {
    int64_t ofGroups =
        dimension == Dimension::Head ? begin / problem.groupSize : begin;
    advance(part.key, ofKeys, ofGroups);
    advance(part.value, ofKeys, ofGroups);
  }
  for (std::vector<Bias> *biases : {&part.biases, &part.captures})
    for (Bias &bias : *biases)
      if (!bias.broadcast[ofBiases])
        advance(bias.view, ofBiases, begin);
  return part;
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

static double readBias(const Bias &bias, int64_t b, int64_t n, int64_t h,
                       int64_t i, int64_t j) {
  const std::array<bool, 5> &broadcast = bias.broadcast;
  return bias.view.at(broadcast[0] ? 0 : b, broadcast[1] ? 0 : n,
                      broadcast[2] ? 0 : h, broadcast[3] ? 0 : i,
                      broadcast[4] ? 0 : j);
}

ScoreResult AttentionProblem::applyScore(int64_t b, int64_t n, int64_t h,
                                         int64_t i, int64_t j, double x) const {
  ScorePlace place = {
      b, n, h, firstQuery + i, j, countQueries(b, n), countKeys(b, n)};
  double captured = captures.empty()
                        ? 0
                        : readBias(captures.front(), b, n, h, i,
                                   findKey(captures.front(), i, j));
  return evaluateScore(*score, place, x, captured);
}

/// Whether a bias drops a key, and otherwise what it adds.
static bool dropsKey(const Bias &bias, double element) {
  if (bias.view.type == ElementType::I1)
    return element == 0;
  return element == -std::numeric_limits<double>::infinity();
}
static double termOf(const Bias &bias, double element) {
  return bias.view.type == ElementType::I1 ? 0 : element;
}

/// Whether query i, of a part of the queries, sees key j of its row.
static bool sees(const AttentionProblem &problem, int64_t b, int64_t n,
                 int64_t i, int64_t j) {
  int64_t queries = problem.countQueries(b, n), keys = problem.countKeys(b, n);
  int64_t query = problem.firstQuery + i;
  if (query >= queries || j >= keys)
    return false;
  auto valueOf = [&](const KeyBound &bound) {
    return bound.coefficient * (query - query % bound.granule) +
           bound.ofQueries * queries + bound.ofKeys * keys + bound.constant;
  };
  return !(problem.keysFrom && j < valueOf(*problem.keysFrom)) &&
         !(problem.keysTo && j >= valueOf(*problem.keysTo));
}

HeadBiases::HeadBiases(const AttentionProblem &problem, int64_t b, int64_t n,
                       int64_t h)
    : problem(problem), b(b), n(n), h(h), sum(problem.keys, 0.0),
      independentlyKept(problem.keys, 1) {
  int64_t keys = problem.countKeys(b, n);
  std::fill(independentlyKept.begin() + keys, independentlyKept.end(), 0);
  for (const Bias &bias : problem.biases) {
    if (!bias.broadcast[3])
      continue;
    for (int64_t j = 0; j < keys; ++j) {
      double element = readBias(bias, b, n, h, 0, j);
      if (dropsKey(bias, element))
        independentlyKept[j] = 0;
      else
        sum[j] += termOf(bias, element);
    }
  }
  bool any = false;
  for (int64_t j = 0; j < problem.keys; ++j) {
    if (!independentlyKept[j] ||
        sum[j] == std::numeric_limits<double>::infinity())
      continue;
    maximum = any ? std::max(maximum, sum[j]) : sum[j];
    any = true;
  }
}

void HeadBiases::readQuery(
    int64_t i, std::vector<uint8_t> &kept,
    const std::function<void(int64_t, double)> &add) const {
  kept = independentlyKept;
  int64_t keys = problem.hasQuery(b, n, i) ? problem.countKeys(b, n) : 0;
  for (const Bias &bias : problem.biases) {
    if (bias.broadcast[3])
      continue;
    for (int64_t j = 0; j < keys; ++j) {
      double element = readBias(bias, b, n, h, i, j);
      if (dropsKey(bias, element))
        kept[j] = 0;
      else
        add(j, termOf(bias, element));
    }
  }
  for (int64_t j = 0; j < problem.keys; ++j)
    if (!sees(problem, b, n, i, j))
      kept[j] = 0;
}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

template <typename Number>
HeadInputs<Number>
mlir::evoformer::reference::readHead(const AttentionProblem &problem, int64_t b,
                                     int64_t n, int64_t h) {
  HeadInputs<Number> head;
  int64_t keyHead = h / problem.groupSize;
  head.query.resize(problem.queries * problem.depth);
  head.keyTransposed.resize(problem.depth * problem.keys);
  head.value.resize(problem.keys * problem.valueDepth);
  // Nobody reads what lies behind a row's end.
  int64_t keys = problem.countKeys(b, n);
  for (int64_t i = 0; i < problem.queries && problem.hasQuery(b, n, i); ++i)
    for (int64_t d = 0; d < problem.depth; ++d)
      head.query[i * problem.depth + d] =
          static_cast<Number>(problem.query.at(b, n, i, h, d));
  for (int64_t j = 0; j < keys; ++j) {
    for (int64_t d = 0; d < problem.depth; ++d)
      head.keyTransposed[d * problem.keys + j] =
          static_cast<Number>(problem.key.at(b, n, j, keyHead, d));
    for (int64_t e = 0; e < problem.valueDepth; ++e)
      head.value[j * problem.valueDepth + e] =
          static_cast<Number>(problem.value.at(b, n, j, keyHead, e));
  }
  return head;
}

template HeadInputs<float>
mlir::evoformer::reference::readHead<float>(const AttentionProblem &, int64_t,
                                            int64_t, int64_t);
template HeadInputs<double>
mlir::evoformer::reference::readHead<double>(const AttentionProblem &, int64_t,
                                             int64_t, int64_t);

int64_t ResultIndex::out(int64_t b, int64_t n, int64_t i, int64_t h) const {
  return (((b * problem.rows + n) * problem.queries + i) * problem.heads + h) *
         problem.valueDepth;
}

int64_t ResultIndex::statistic(int64_t b, int64_t n, int64_t h,
                               int64_t i) const {
  return head(b, n, h) * problem.queries + i;
}

int64_t ResultIndex::head(int64_t b, int64_t n, int64_t h) const {
  return (b * problem.rows + n) * problem.heads + h;
}

AttentionResult
mlir::evoformer::reference::makeResult(const AttentionProblem &problem) {
  int64_t heads = problem.batch * problem.rows * problem.heads;
  AttentionResult result;
  result.out.resize(heads * problem.queries * problem.valueDepth);
  result.lse.resize(heads * problem.queries);
  result.stats.resize(heads * problem.queries);
  result.m0.resize(heads);
  return result;
}

double mlir::evoformer::reference::sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

void mlir::evoformer::reference::forEachHead(
    const AttentionProblem &problem, unsigned threads,
    const std::function<void(int64_t, int64_t, int64_t)> &body) {
  int64_t total = problem.batch * problem.rows * problem.heads;
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(
      std::min<int64_t>(threads, std::max<int64_t>(total, 1)));
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t head = next++; head < total; head = next++)
      body(head / problem.heads / problem.rows,
           head / problem.heads % problem.rows, head % problem.heads);
  };
  std::vector<std::thread> pool;
  for (unsigned thread = 1; thread < threads; ++thread)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}
