//===- Cover.cpp - Pairwise covering sets of cases ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/AttentionCase.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <random>
#include <set>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Expected;
using llvm::StringRef;

namespace {
/// A property of a case with its possible values.
struct Axis {
  size_t numValues;
  std::function<void(AttentionCase &, size_t value)> apply;
};

/// Chooses rows, one value an axis, until each pair of values of two axes is
/// in some row (the greedy construction of Cohen et al. 1997, "The AETG
/// System").
class PairwiseCover {
public:
  explicit PairwiseCover(llvm::ArrayRef<Axis> axes) : axes(axes) {
    for (size_t a = 0; a < axes.size(); ++a)
      for (size_t b = a + 1; b < axes.size(); ++b)
        for (size_t i = 0; i < axes[a].numValues; ++i)
          for (size_t j = 0; j < axes[b].numValues; ++j)
            uncovered.insert({a, i, b, j});
  }

  std::vector<std::vector<size_t>> run() {
    std::vector<std::vector<size_t>> rows;
    while (!uncovered.empty()) {
      std::vector<size_t> best;
      size_t bestCount = 0;
      for (int attempt = 0; attempt < 12; ++attempt) {
        std::vector<size_t> row = makeRow();
        size_t count = countNew(row);
        if (count > bestCount) {
          best = std::move(row);
          bestCount = count;
        }
      }
      forEachPair(best, [&](const Pair &pair) { uncovered.erase(pair); });
      rows.push_back(std::move(best));
    }
    return rows;
  }

private:
  using Pair = std::array<size_t, 4>;
  static constexpr size_t unset = ~size_t(0);

  size_t draw(size_t bound) { return engine() % bound; }

  /// Starts from a pair that is missing and adds the other axes in random
  /// order, each with the value that covers most.
  std::vector<size_t> makeRow() {
    std::vector<size_t> row(axes.size(), unset);
    auto it = uncovered.begin();
    std::advance(it, draw(std::min<size_t>(uncovered.size(), 64)));
    row[(*it)[0]] = (*it)[1];
    row[(*it)[2]] = (*it)[3];
    std::vector<size_t> order(axes.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[draw(i)]);
    for (size_t axis : order) {
      if (row[axis] != unset)
        continue;
      size_t best = 0, bestCount = 0, start = draw(axes[axis].numValues);
      for (size_t i = 0; i < axes[axis].numValues; ++i) {
        row[axis] = (start + i) % axes[axis].numValues;
        size_t count = countNew(row, axis);
        if (i == 0 || count > bestCount) {
          best = row[axis];
          bestCount = count;
        }
      }
      row[axis] = best;
    }
    return row;
  }

  template <typename Function>
  void forEachPair(const std::vector<size_t> &row, Function function) {
    for (size_t a = 0; a < row.size(); ++a)
      for (size_t b = a + 1; b < row.size(); ++b)
        if (row[a] != unset && row[b] != unset)
          function(Pair{a, row[a], b, row[b]});
  }
  size_t countNew(const std::vector<size_t> &row) {
    size_t count = 0;
    forEachPair(row, [&](const Pair &pair) { count += uncovered.count(pair); });
    return count;
  }
  size_t countNew(const std::vector<size_t> &row, size_t axis) {
    size_t count = 0;
    for (size_t other = 0; other < row.size(); ++other) {
      if (other == axis || row[other] == unset)
        continue;
      Pair pair = other < axis ? Pair{other, row[other], axis, row[axis]}
                               : Pair{axis, row[axis], other, row[other]};
      count += uncovered.count(pair);
    }
    return count;
  }

  llvm::ArrayRef<Axis> axes;
  std::set<Pair> uncovered;
  std::mt19937_64 engine{2021};
};
} // namespace

template <typename T, typename Apply>
static Axis makeAxis(std::vector<T> values, Apply apply) {
  return {values.size(), [=](AttentionCase &result, size_t index) {
            apply(result, values[index]);
          }};
}

/// Sets of biases in the syntax of cases; T is the case's type.
static std::vector<std::string> getBiasSets(bool few) {
  std::vector<std::string> sets = {
      "",
      "bnk:i1:normal",
      "bhqk:T:normal",
      "bnk:i1:normal bhqk:T:normal",
      "bnk:f32:huge bhqk:T:normal",
      "bnk:T:lowest bnk:f32:large",
      "bhqk:T:rows",
      "bnk:T:mixed bhqk:f32:mixed",
  };
  if (few)
    return sets;
  std::vector<std::string> more = {"bnhqk:f32:normal",
                                   "hqk:T:normal:bnqkh",
                                   "bnqk:i1:sparse",
                                   "bnk:f32:infinite hqk:f32:normal",
                                   "k:f32:all-huge",
                                   "bnk:i1:all-false bhqk:T:normal",
                                   "bnhk:T:infinite",
                                   "qk:f32:infinite",
                                   "bnk:T:rows bhqk:T:all-lowest",
                                   "bnqk:f32:rows",
                                   "hqk:T:all-huge k:T:mixed",
                                   "bnhq:T:normal:bnhkq bk:i1:normal:kbnhq"};
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

static void setBiases(AttentionCase &result, StringRef set) {
  std::string text;
  llvm::SmallVector<StringRef> entries;
  set.split(entries, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    auto [dims, rest] = entry.split(':');
    if (rest.consume_front("T:"))
      text += ("bias=" + dims + ":" + getName(result.type) + ":" + rest + " ")
                  .str();
    else
      text += ("bias=" + entry + " ").str();
  }
  result.biases = llvm::cantFail(parseAttentionCase(text)).biases;
}

Expected<std::vector<AttentionCase>>
mlir::evoformer::makeCover(StringRef size) {
  StringRef name = size;
  bool isBackward = size.consume_front("backward-");
  bool isWeights = !isBackward && size.consume_front("weights-");
  bool isSmall = size == "small", isFull = size == "full";
  if (!isSmall && !isFull && size != "quick")
    return createStringError("unknown cover '" + name +
                             "': it is small, quick or full, or one of these "
                             "after 'backward-' or 'weights-'");
  std::vector<int64_t> lengths = {1, 17, 64, 100, 129},
                       depths = {1,  4,  8,  12, 16, 20,  24,  32, 40,
                                 48, 56, 64, 80, 96, 128, 192, 256};
  if (isFull)
    lengths = {0,   1,   2,   15,  16,  17,  63,  64, 65,
               100, 127, 128, 129, 200, 256, 384, 391};
  if (isSmall) {
    lengths = {1, 17, 64, 100};
    depths = {8, 16, 24, 32, 64};
  }
  // The type comes first: biases and gates refer to it.
  std::vector<Axis> axes;
  axes.push_back(makeAxis(
      std::vector{ElementType::BF16, ElementType::F16, ElementType::F32},
      [](AttentionCase &c, ElementType type) { c.type = type; }));
  axes.push_back(makeAxis(
      depths, [](AttentionCase &c, int64_t depth) { c.depth = depth; }));
  // Weights are of queries, keys and biases.
  if (!isWeights) {
    axes.push_back(makeAxis(
        std::vector<int64_t>{0, 16, 40},
        [](AttentionCase &c, int64_t depth) { c.valueDepth = depth; }));
    axes.push_back(
        makeAxis(std::vector{false, true}, [](AttentionCase &c, bool single) {
          if (single)
            c.outputType = ElementType::F32;
        }));
    axes.push_back(
        makeAxis(std::vector{0, 1, 2}, [](AttentionCase &c, int gate) {
          if (gate)
            c.gateType = gate == 1 ? c.type : ElementType::F32;
        }));
  }
  axes.push_back(makeAxis(
      getBiasSets(/*few=*/!isFull),
      [](AttentionCase &c, const std::string &set) { setBiases(c, set); }));
  axes.push_back(makeAxis(
      std::vector<std::string>{"", "order=bnhsd", "memory=bnhsd",
                               "pad=3 offset=1", "zero=n", "order=nbshd",
                               "order=bndsh"},
      [](AttentionCase &c, const std::string &text) {
        AttentionCase layout = llvm::cantFail(parseAttentionCase(text));
        c.order = layout.order;
        c.memory = layout.memory;
        c.pad = layout.pad;
        c.offset = layout.offset;
        c.zero = layout.zero;
      }));
  axes.push_back(makeAxis(
      std::vector<std::array<int64_t, 4>>{
          {1, 1, 1, 1}, {2, 3, 5, 1}, {1, 2, 4, 2}},
      [](AttentionCase &c, const std::array<int64_t, 4> &sizes) {
        c.batch = sizes[0];
        c.rows = sizes[1];
        c.heads = sizes[2];
        c.groupSize = sizes[3];
      }));
  // Few gradients are left to judge bounds by where sequences are short.
  bool hasSequences = !isBackward || !isSmall;
  if (hasSequences)
    axes.push_back(makeAxis(std::vector<std::string>{"", "", "n"},
                            [](AttentionCase &c, const std::string &letters) {
                              c.share = letters;
                            }));
  axes.push_back(makeAxis(
      std::vector<std::string>{"", "window=:i+sk-sq+1", "window=i-20:i+9",
                               "window=i/32*32-48:i/32*32+80"},
      [](AttentionCase &c, const std::string &text) {
        AttentionCase ranged = llvm::cantFail(parseAttentionCase(text));
        c.window = ranged.window;
        c.seen = ranged.seen;
        c.fromOperands = ranged.fromOperands;
        c.toOperands = ranged.toOperands;
      }));
  std::vector<std::string> ends = {"", "", "lens=random:random",
                                   "lens=random/n"};
  if (hasSequences)
    ends.push_back("ragged=random:random");
  axes.push_back(makeAxis(ends, [](AttentionCase &c, const std::string &text) {
    AttentionCase ended = llvm::cantFail(parseAttentionCase(text));
    c.ragged = ended.ragged;
    c.raggedQueries = ended.raggedQueries;
    c.raggedKeys = ended.raggedKeys;
    c.lens = ended.lens;
    c.keyLengths = ended.keyLengths;
    c.queryLengths = ended.queryLengths;
    c.lengthsOfBatch = ended.lengthsOfBatch;
    c.lengthsOfRows = ended.lengthsOfRows;
  }));
  if (!isWeights)
    axes.push_back(
        makeAxis(std::vector{0, 1, 2, 3}, [](AttentionCase &c, int outputs) {
          c.lse = outputs & 1;
          c.stats = outputs & 2;
        }));
  axes.push_back(makeAxis(std::vector<std::string>{"none", "heads", "all"},
                          [](AttentionCase &c, const std::string &sizes) {
                            c.staticSizes = sizes;
                          }));
  axes.push_back(makeAxis(isBackward ? std::vector{0, 1} : std::vector{0, 1, 2},
                          [](AttentionCase &c, int nan) {
                            c.nanKeys = nan > 0;
                            c.nanSome = nan > 1;
                          }));
  axes.push_back(
      makeAxis(lengths, [](AttentionCase &c, int64_t n) { c.queries = n; }));
  axes.push_back(
      makeAxis(lengths, [](AttentionCase &c, int64_t n) { c.keys = n; }));

  if (isBackward)
    axes.push_back(
        makeAxis(std::vector{false, true}, [](AttentionCase &c, bool single) {
          if (single)
            c.gradientType = ElementType::F32;
        }));

  std::vector<AttentionCase> cases;
  for (const std::vector<size_t> &row : PairwiseCover(axes).run()) {
    AttentionCase result;
    for (auto [axis, value] : llvm::zip_equal(axes, row))
      axis.apply(result, value);
    result.seed = cases.size() + 1;
    result.backward = isBackward;
    result.showsWeights = isWeights;
    cases.push_back(std::move(result));
  }
  return cases;
}
