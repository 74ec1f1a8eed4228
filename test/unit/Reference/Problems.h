//===- Problems.h - Small attentions for tests ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problems that own their arrays.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TEST_UNIT_REFERENCE_PROBLEMS_H
#define EVOFORMER_TEST_UNIT_REFERENCE_PROBLEMS_H

#include "Evoformer/Reference/Attention.h"
#include <deque>
#include <random>

namespace mlir::evoformer::reference {

/// A problem whose arrays are f32 (masks: bytes) and belong to it.
struct OwnedProblem : AttentionProblem {
  OwnedProblem() = default;
  OwnedProblem(const OwnedProblem &) = delete;

  const void *own(std::vector<float> values) {
    floats.push_back(std::move(values));
    return floats.back().data();
  }
  const void *own(std::vector<uint8_t> values) {
    bytes.push_back(std::move(values));
    return bytes.back().data();
  }

  View dense(std::vector<float> values, std::vector<int64_t> sizes) {
    return makeDenseView(own(std::move(values)), ElementType::F32, sizes);
  }

  /// A bias of the given sizes; those that are 1 broadcast.
  void addBias(View view, std::vector<int64_t> sizes) {
    Bias bias;
    bias.view = view;
    for (int dim = 0; dim < 5; ++dim)
      bias.broadcast[dim] = sizes[dim] == 1;
    biases.push_back(bias);
  }
  void addBias(std::vector<float> values, std::vector<int64_t> sizes) {
    addBias(dense(std::move(values), sizes), sizes);
  }
  void addMask(std::vector<uint8_t> values, std::vector<int64_t> sizes) {
    addBias(makeDenseView(own(std::move(values)), ElementType::I1, sizes),
            sizes);
  }

  std::deque<std::vector<float>> floats;
  std::deque<std::vector<uint8_t>> bytes;
};

/// One batch, row, head and query with D = 1, query 1 and scale 1: the logits
/// are `keys`; the values have the depth `values.size() / keys.size()`.
inline void setSingleQuery(OwnedProblem &problem, std::vector<float> keys,
                           std::vector<float> values, int64_t valueDepth = 1) {
  problem.batch = problem.rows = problem.queries = problem.heads = 1;
  problem.keys = static_cast<int64_t>(keys.size());
  problem.depth = 1;
  problem.valueDepth = valueDepth;
  problem.query = problem.dense({1}, {1, 1, 1, 1, 1});
  problem.key = problem.dense(std::move(keys), {1, 1, problem.keys, 1, 1});
  problem.value =
      problem.dense(std::move(values), {1, 1, problem.keys, 1, valueDepth});
}

inline std::vector<float> randomFloats(std::mt19937 &generator, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(generator);
  return values;
}

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_TEST_UNIT_REFERENCE_PROBLEMS_H
