//===- CaseRagged.cpp - Sequences one behind the other --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseRagged.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::ArrayRef;
using llvm::StringRef;

/// Random ones: none, one, or all that may be among them, behind some that are
/// of no sequence, and before some.
static void drawStarts(const AttentionCase &problem, bool ofKeys,
                       RaggedPlaces &places) {
  int64_t most = ofKeys ? problem.keys : problem.queries;
  std::mt19937_64 engine(problem.seed * 2 + (ofKeys ? 1 : 0));
  auto draw = [&](int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  };
  places.starts = {draw(3)};
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int64_t some[] = {0, std::min<int64_t>(1, most), most};
    int64_t kind = draw(6);
    places.starts.push_back(places.starts.back() +
                            (kind < 3 ? some[kind] : draw(most + 1)));
  }
  places.all = places.starts.back() + draw(5);
}

RaggedPlaces mlir::evoformer::findPlaces(const AttentionCase &problem,
                                         bool ofKeys) {
  const RaggedCase &given =
      ofKeys ? *problem.raggedKeys : *problem.raggedQueries;
  RaggedPlaces places;
  if (given.starts.empty()) {
    drawStarts(problem, ofKeys, places);
  } else {
    places.starts = given.starts;
    places.all = given.all.value_or(
        std::max<int64_t>(0, *llvm::max_element(places.starts)));
  }
  int64_t most = ofKeys ? problem.keys : problem.queries;
  for (size_t b = 0; b + 1 < places.starts.size(); ++b) {
    auto inside = [&](int64_t at) {
      return std::clamp<int64_t>(at, 0, places.all);
    };
    int64_t first = inside(places.starts[b]);
    places.firsts.push_back(first);
    places.lengths.push_back(
        std::clamp<int64_t>(inside(places.starts[b + 1]) - first, 0, most));
  }
  return places;
}

/// Which sequence each element is of; -1: of none.
static std::vector<int64_t> findOwners(const RaggedPlaces &places,
                                       bool *overlap = nullptr) {
  std::vector<int64_t> owners(places.all, -1);
  for (auto [b, first] : llvm::enumerate(places.firsts))
    for (int64_t i = 0; i < places.lengths[b]; ++i) {
      if (overlap && owners[first + i] >= 0)
        *overlap = true;
      owners[first + i] = static_cast<int64_t>(b);
    }
  return owners;
}

bool mlir::evoformer::haveOverlap(const RaggedPlaces &places) {
  bool overlap = false;
  findOwners(places, &overlap);
  return overlap;
}

AttentionCase mlir::evoformer::getDense(const AttentionCase &problem) {
  AttentionCase dense = problem;
  dense.ragged.clear();
  dense.raggedQueries = dense.raggedKeys = std::nullopt;
  dense.puts.clear();
  dense.keyLengths.emplace().list = findPlaces(problem, true).lengths;
  dense.queryLengths.emplace().list = findPlaces(problem, false).lengths;
  dense.lengthsOfBatch = true;
  dense.lengthsOfRows = false;
  return dense;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// How the dimensions of an operand lie in memory; no `dimension`: as they are.
struct Packing {
  /// Of what is packed, and that of b.
  int64_t dimension = -1, batch = 0;
  bool ofKeys = false;
};
} // namespace

static Packing findPacking(StringRef name) {
  if (name == "key" || name == "value" || name == "key_grad" ||
      name == "value_grad")
    return {2, 0, true};
  if (name == "lse")
    return {3, 0, false};
  if (name == "stats")
    return {4, 1, false};
  if (name.starts_with("bias") || name.starts_with("capture") ||
      name.ends_with("_starts") || name == "dropout" || name == "weights")
    return {};
  return {2, 0, false};
}

std::function<bool(ArrayRef<int64_t>)>
mlir::evoformer::findWritten(const AttentionCase &problem, StringRef operand) {
  Packing packing = findPacking(operand);
  if (!problem.isRagged() || packing.dimension < 0)
    return [](ArrayRef<int64_t>) { return true; };
  return [dimension = packing.dimension,
          owners = findOwners(findPlaces(problem, packing.ofKeys))](
             ArrayRef<int64_t> index) { return owners[index[dimension]] >= 0; };
}

static void copyElement(const HostArray &from, ArrayRef<int64_t> fromIndex,
                        HostArray &to, ArrayRef<int64_t> toIndex) {
  to.write(toIndex, from.read(fromIndex));
}

/// Calls `function` with the index of an element of a sequence in a dense array
/// and in memory.
static void forEachOfSequences(
    const AttentionCase &problem, const Packing &packing,
    const HostArray &dense,
    llvm::function_ref<void(ArrayRef<int64_t>, ArrayRef<int64_t>)> function) {
  RaggedPlaces places = findPlaces(problem, packing.ofKeys);
  dense.forEach([&](ArrayRef<int64_t> index, int64_t) {
    int64_t b = index[packing.batch], i = index[packing.dimension];
    if (i >= places.lengths[b])
      return;
    llvm::SmallVector<int64_t> at(index);
    at[packing.batch] = 0;
    at[packing.dimension] = places.firsts[b] + i;
    function(index, at);
  });
}

/// The array of the operand of that name.
template <typename ArraysTy>
static auto *findArray(const std::vector<CaseOperand> &operands,
                       ArraysTy &arrays, StringRef name) {
  auto operand = llvm::find_if(operands, [&](const CaseOperand &operand) {
    return operand.name == name;
  });
  return operand == operands.end() ? nullptr
                                   : &arrays[operand - operands.begin()];
}

void mlir::evoformer::packInputs(const AttentionCase &problem,
                                 ArrayRef<HostArray> dense,
                                 std::vector<HostArray> &arrays) {
  std::vector<CaseOperand> operands = getOperands(problem);
  std::vector<CaseOperand> ofDense = getOperands(getDense(problem));
  for (size_t i = 0; i < operands.size(); ++i) {
    const CaseOperand &operand = operands[i];
    HostArray &array = arrays[i];
    if (operand.isOutput)
      continue;
    if (StringRef(operand.name).ends_with("_starts")) {
      RaggedPlaces places = findPlaces(problem, operand.name == "key_starts");
      for (auto [at, start] : llvm::enumerate(places.starts))
        array.write({static_cast<int64_t>(at)}, static_cast<double>(start));
      continue;
    }
    const HostArray &from = *findArray(ofDense, dense, operand.name);
    Packing packing = findPacking(operand.name);
    if (packing.dimension < 0) {
      array = from;
      continue;
    }
    array.forEach([&](ArrayRef<int64_t>, int64_t at) {
      writeElement(array.layout.type, NAN, array.storage.data() + at);
    });
    forEachOfSequences(problem, packing, from,
                       [&](ArrayRef<int64_t> index, ArrayRef<int64_t> at) {
                         copyElement(from, index, array, at);
                       });
  }
}

std::vector<HostArray> mlir::evoformer::unpack(const AttentionCase &problem,
                                               ArrayRef<HostArray> arrays) {
  std::vector<CaseOperand> operands = getOperands(problem);
  AttentionCase denseCase = getDense(problem);
  std::vector<HostArray> result;
  for (const CaseOperand &operand : getOperands(denseCase)) {
    HostArray &array = result.emplace_back(operand.layout);
    if (StringRef(operand.name).ends_with("_lengths")) {
      RaggedPlaces places = findPlaces(problem, operand.name == "key_lengths");
      for (auto [b, length] : llvm::enumerate(places.lengths))
        array.write({static_cast<int64_t>(b), 0}, static_cast<double>(length));
      continue;
    }
    const HostArray &from = *findArray(operands, arrays, operand.name);
    Packing packing = findPacking(operand.name);
    if (packing.dimension < 0) {
      array = from;
      continue;
    }
    if (operand.isOutput)
      array.forEach([&](ArrayRef<int64_t>, int64_t at) {
        writeElement(array.layout.type, operand.name == "lse" ? -INFINITY : 0,
                     array.storage.data() + at);
      });
    forEachOfSequences(problem, packing, array,
                       [&](ArrayRef<int64_t> index, ArrayRef<int64_t> at) {
                         copyElement(from, at, array, index);
                       });
  }
  return result;
}
