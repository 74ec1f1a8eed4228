//===- GradientSums.cpp - Gradients of one head and of all ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientSums.h"

using namespace mlir::evoformer::reference;

static DenseArray makeArray(std::array<int64_t, 5> sizes) {
  DenseArray array;
  array.sizes = sizes;
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  array.elements.resize(count);
  array.magnitudes.resize(count);
  return array;
}

GradientResult::GradientResult(const AttentionProblem &problem)
    : problem(problem) {
  auto sequence = [&](int64_t length, int64_t heads, int64_t depth) {
    return makeArray({problem.batch, problem.rows, length, heads, depth});
  };
  auto ofKeys = [&](int64_t depth) {
    return makeArray({problem.sharesBatch ? 1 : problem.batch,
                      problem.sharesRows ? 1 : problem.rows, problem.keys,
                      problem.heads / problem.groupSize, depth});
  };
  int64_t heads = problem.heads;
  gradients.query = sequence(problem.queries, heads, problem.depth);
  gradients.key = ofKeys(problem.depth);
  gradients.value = ofKeys(problem.valueDepth);
  if (problem.gate)
    gradients.gate = sequence(problem.queries, heads, problem.valueDepth);
  for (const Bias &bias : problem.getAllBiases()) {
    gradients.biases.emplace_back();
    if (bias.view.type == ElementType::I1)
      continue;
    std::array<int64_t, 5> sizes = {problem.batch, problem.rows, problem.heads,
                                    problem.queries, problem.keys};
    for (int dim = 0; dim < 5; ++dim)
      if (bias.broadcast[dim])
        sizes[dim] = 1;
    if (bias.entries)
      sizes[4] = bias.entries;
    gradients.biases.back() = makeArray(sizes);
  }
}

void GradientResult::add(const GradientSums &sums, int64_t b, int64_t n,
                         int64_t h, std::vector<double> DenseArray::*part) {
  auto place = [&](DenseArray &array, int64_t row, int64_t head,
                   const std::vector<double> &from) {
    std::vector<double> &to = array.*part;
    to.resize(array.elements.size());
    int64_t length = array.sizes[2], heads = array.sizes[3],
            depth = array.sizes[4];
    for (int64_t s = 0; s < length && !to.empty(); ++s)
      for (int64_t d = 0; d < depth; ++d)
        to[((row * length + s) * heads + head) * depth + d] +=
            from[s * depth + d];
  };
  int64_t row = b * problem.rows + n, keyHead = h / problem.groupSize;
  int64_t keyRow = (problem.sharesBatch ? 0 : b) * gradients.key.sizes[1] +
                   (problem.sharesRows ? 0 : n);
  place(gradients.query, row, h, sums.query);
  place(gradients.key, keyRow, keyHead, sums.key);
  place(gradients.value, keyRow, keyHead, sums.value);
  place(gradients.gate, row, h, sums.gate);
  std::vector<Bias> all = problem.getAllBiases();
  for (size_t bias = 0; bias < all.size(); ++bias) {
    DenseArray &array = gradients.biases[bias];
    std::vector<double> &to = array.*part;
    to.resize(array.elements.size());
    const std::array<bool, 5> &broadcast = all[bias].broadcast;
    auto at = [&](int64_t base, int dim, int64_t index) {
      return base * array.sizes[dim] + (broadcast[dim] ? 0 : index);
    };
    int64_t head = at(at(at(0, 0, b), 1, n), 2, h);
    for (int64_t i = 0; i < problem.queries && !to.empty(); ++i)
      for (int64_t j = 0; j < problem.keys; ++j)
        to[at(at(head, 3, i), 4, problem.findKey(all[bias], i, j))] +=
            sums.ofPairs(bias, problem)[i * problem.keys + j];
  }
}

void GradientResult::add(const GradientSums &sums, int64_t b, int64_t n,
                         int64_t h, const GradientSums *magnitudes) {
  std::lock_guard<std::mutex> lock(mutex);
  add(sums, b, n, h, &DenseArray::elements);
  if (magnitudes)
    add(*magnitudes, b, n, h, &DenseArray::magnitudes);
}
