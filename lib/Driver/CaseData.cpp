//===- CaseData.cpp - The numbers of an attention to check ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseRagged.h"
#include "CaseScore.h"
#include "Evoformer/Driver/AttentionCase.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::ArrayRef;

/// As many as any table holds.
static constexpr unsigned kManyNormals = 65536;

namespace {
/// Draws elements from a table of values that are already in their type, so
/// that large arrays fill fast.
class Drawer {
public:
  Drawer(ElementType type, uint64_t seed)
      : type(type), bytes(getByteSize(type)),
        state(seed * 0x9e3779b97f4a7c15ull + 1) {}

  void addValue(double value) {
    values.resize(values.size() + bytes);
    writeElement(type, value, &values[values.size() - bytes]);
  }
  void addNormals(unsigned count) {
    static const std::vector<double> normals = drawNormals();
    for (double value : llvm::ArrayRef(normals).take_front(count))
      addValue(value);
  }
  void fill(HostArray &array) {
    size_t count = values.size() / bytes;
    array.forEach([&](ArrayRef<int64_t>, int64_t at) {
      // xorshift64* (Vigna 2016).
      state ^= state >> 12;
      state ^= state << 25;
      state ^= state >> 27;
      uint64_t random = (state * 0x2545f4914f6cdd1dull) >> 32;
      std::memcpy(array.storage.data() + at,
                  values.data() + (random * count >> 32) * bytes, bytes);
    });
  }

private:
  static std::vector<double> drawNormals() {
    // Quantiles of the normal distribution by a sum of uniform numbers.
    std::mt19937_64 engine(12345);
    std::vector<double> normals(kManyNormals, -6);
    for (double &sum : normals)
      for (int j = 0; j < 12; ++j)
        sum += (engine() >> 11) * 0x1p-53;
    return normals;
  }

  ElementType type;
  unsigned bytes;
  uint64_t state;
  std::vector<char> values;
};
} // namespace

static double getLowest(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return -65504;
  case ElementType::BF16:
    return -0x1.fep127;
  default:
    return -0x1.fffffep127;
  }
}

/// f16 holds no -1e9; its masks use the lowest number.
static double getHuge(ElementType type) {
  return type == ElementType::F16 ? -65504 : -1e9;
}

/// What models write for 'not this key'.
static std::vector<double> getMasks(ElementType type) {
  return {-1e4, getHuge(type), getLowest(type), -INFINITY};
}

static void fillBias(const BiasCase &bias, uint64_t seed, HostArray &array) {
  Drawer drawer(bias.type, seed);
  auto addMasked = [&](double dropped) {
    for (int i = 0; i < 10; ++i)
      drawer.addValue(i < 3 ? dropped : 0);
  };
  bool isMask = bias.type == ElementType::I1;
  switch (bias.values) {
  case BiasValues::Normal:
    if (isMask)
      for (int i = 0; i < 10; ++i)
        drawer.addValue(i < 8);
    else
      drawer.addNormals(4096);
    break;
  case BiasValues::AllFalse:
    drawer.addValue(isMask ? 0 : -INFINITY);
    break;
  case BiasValues::AllTrue:
    drawer.addValue(isMask ? 1 : 0);
    break;
  case BiasValues::Sparse:
    for (int i = 0; i < 16; ++i)
      drawer.addValue(isMask ? i == 0 : (i == 0 ? 0 : -INFINITY));
    break;
  case BiasValues::Large:
    addMasked(-1e4);
    break;
  case BiasValues::Huge:
    addMasked(getHuge(bias.type));
    break;
  case BiasValues::AllHuge:
    drawer.addValue(getHuge(bias.type));
    break;
  case BiasValues::Lowest:
    addMasked(getLowest(bias.type));
    break;
  case BiasValues::AllLowest:
    drawer.addValue(getLowest(bias.type));
    break;
  case BiasValues::Mixed:
    for (double mask : getMasks(bias.type))
      drawer.addValue(mask);
    drawer.addNormals(4);
    break;
  case BiasValues::Columns:
  case BiasValues::Rows:
  case BiasValues::NaN:
  case BiasValues::Growing:
    drawer.addNormals(4096);
    break;
  case BiasValues::Infinite:
    for (int i = 0; i < 3; ++i)
      drawer.addValue(-INFINITY);
    drawer.addNormals(7);
    break;
  }
  drawer.fill(array);
  if (bias.values == BiasValues::Columns)
    array.forEach([&](ArrayRef<int64_t> index, int64_t at) {
      if (index[4] % 3 == 1)
        writeElement(bias.type, -INFINITY, array.storage.data() + at);
    });
  if (bias.values == BiasValues::NaN)
    array.forEach([&](ArrayRef<int64_t> index, int64_t at) {
      if (index[3] % 16 == 0 && index[4] == 0)
        writeElement(bias.type, NAN, array.storage.data() + at);
    });
  if (bias.values == BiasValues::Growing)
    array.forEach([&](ArrayRef<int64_t> index, int64_t at) {
      writeElement(bias.type, array.read(index) + index[4],
                   array.storage.data() + at);
    });
  if (bias.values != BiasValues::Rows)
    return;
  // Every other row is as it is.
  std::vector<double> masks = getMasks(bias.type);
  bool hasQueries = llvm::StringRef(bias.dims).contains('q');
  array.forEach([&](ArrayRef<int64_t> index, int64_t at) {
    size_t row = index[hasQueries ? 3 : 1];
    if (row % 2 == 0)
      return;
    double mask = masks[row / 2 % masks.size()];
    double value = array.read(index) + mask;
    if (std::isfinite(mask))
      value = std::max(value, getLowest(bias.type));
    writeElement(bias.type, value, array.storage.data() + at);
  });
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// The first of the operands of lengths.
static size_t findLengths(const AttentionCase &problem) {
  return 3 + problem.biases.size() + countCaptures(problem) +
         (problem.gateType ? 1 : 0);
}

static int64_t readLength(const HostArray &array, int64_t b, int64_t n,
                          int64_t size) {
  ArrayRef<int64_t> sizes = array.layout.sizes;
  int64_t index[] = {std::min(b, sizes[0] - 1), std::min(n, sizes[1] - 1)};
  return std::clamp<int64_t>(static_cast<int64_t>(array.read(index)), 0, size);
}

int64_t mlir::evoformer::countKeys(const AttentionCase &problem,
                                   ArrayRef<HostArray> arrays, int64_t b,
                                   int64_t n) {
  if (!problem.keyLengths)
    return problem.keys;
  return readLength(arrays[findLengths(problem)], b, n, problem.keys);
}

int64_t mlir::evoformer::countQueries(const AttentionCase &problem,
                                      ArrayRef<HostArray> arrays, int64_t b,
                                      int64_t n) {
  if (!problem.queryLengths)
    return problem.queries;
  size_t at = findLengths(problem) + (problem.keyLengths ? 1 : 0);
  return readLength(arrays[at], b, n, problem.queries);
}

std::pair<uint64_t, uint64_t>
mlir::evoformer::getDropoutState(const AttentionCase &problem) {
  // Both halves of both count; doubles hold them exactly.
  std::mt19937_64 engine(problem.dropSeed.value_or(problem.seed));
  uint64_t seed = engine() >> 11, offset = engine() >> 11;
  return {seed, offset};
}

static void fillLengths(const LengthsCase &lengths, int64_t size, uint64_t seed,
                        HostArray &array) {
  if (!lengths.list.empty()) {
    size_t next = 0;
    array.forEach([&](ArrayRef<int64_t>, int64_t at) {
      double length = lengths.list[next++ % lengths.list.size()];
      writeElement(array.layout.type, length, array.storage.data() + at);
    });
    return;
  }
  Drawer drawer(array.layout.type, seed);
  if (lengths.values != LengthsCase::Random) {
    drawer.addValue(lengths.values == LengthsCase::Half ? size / 2 : size);
  } else {
    // And some that are none.
    drawer.addValue(-3);
    drawer.addValue(size + 5);
    for (int64_t length = 0; length <= size; ++length)
      drawer.addValue(length);
  }
  drawer.fill(array);
}

/// The b, n and h of queries that share what keys and values have at `index`.
static void forEachSharer(
    const AttentionCase &problem, ArrayRef<int64_t> index,
    llvm::function_ref<void(int64_t b, int64_t n, int64_t h)> function) {
  auto range = [](bool isShared, int64_t at, int64_t size) {
    return isShared ? llvm::seq<int64_t>(0, size) : llvm::seq(at, at + 1);
  };
  int64_t first = index[3] * problem.groupSize;
  for (int64_t b : range(problem.shares('b'), index[0], problem.batch))
    for (int64_t n : range(problem.shares('n'), index[1], problem.rows))
      for (int64_t h : llvm::seq(first, first + problem.groupSize))
        function(b, n, h);
}

/// NaN in what lies behind the ends of rows.
static void poisonBehind(const AttentionCase &problem,
                         std::vector<HostArray> &arrays) {
  std::vector<CaseOperand> operands = getOperands(problem);
  auto poison = [&](HostArray &array, auto isBehind) {
    if (!isFloat(array.layout.type))
      return;
    array.forEach([&](ArrayRef<int64_t> index, int64_t at) {
      if (isBehind(index))
        writeElement(array.layout.type, NAN, array.storage.data() + at);
    });
  };
  for (auto [operand, array] : llvm::zip_equal(operands, arrays)) {
    llvm::StringRef name = operand.name;
    bool isOfKeys = name == "key" || name == "value";
    if (isOfKeys && problem.zero.empty())
      poison(array, [&](ArrayRef<int64_t> index) {
        bool isBehind = true;
        forEachSharer(problem, index, [&](int64_t b, int64_t n, int64_t) {
          isBehind &= index[2] >= countKeys(problem, arrays, b, n);
        });
        return isBehind;
      });
    if (name == "query" || name == "gate" || name == "out_grad")
      poison(array, [&](ArrayRef<int64_t> index) {
        return index[2] >= countQueries(problem, arrays, index[0], index[1]);
      });
    bool isOfPairs = name.starts_with("bias") || name.starts_with("capture");
    bool isTable = problem.scoreCase &&
                   problem.scoreCase->kind == reference::ScoreKind::Table &&
                   name.starts_with("capture");
    if (!isOfPairs || operand.isOutput || isTable)
      continue;
    // A bias may be that of several rows.
    ArrayRef<int64_t> sizes = array.layout.sizes;
    auto rowsOf = [](int64_t size, int64_t at, int64_t all) {
      return size == 1 ? llvm::seq<int64_t>(0, all)
                       : llvm::seq<int64_t>(at, at + 1);
    };
    poison(array, [&](ArrayRef<int64_t> index) {
      for (int64_t b : rowsOf(sizes[0], index[0], problem.batch))
        for (int64_t n : rowsOf(sizes[1], index[1], problem.rows)) {
          if (index[3] < countQueries(problem, arrays, b, n) &&
              index[4] < countKeys(problem, arrays, b, n))
            return false;
        }
      return true;
    });
  }
}

//===----------------------------------------------------------------------===//
// Dropped keys
//===----------------------------------------------------------------------===//

/// Whether a bias, the range of keys or a length drops key j for query i.
static bool isDroppedFor(const AttentionCase &problem,
                         ArrayRef<HostArray> arrays, int64_t b, int64_t n,
                         int64_t h, int64_t i, int64_t j) {
  int64_t queries = countQueries(problem, arrays, b, n);
  int64_t keys = countKeys(problem, arrays, b, n);
  if (i >= queries || j >= keys ||
      !problem.getKnownRange().sees(i, j, queries, keys))
    return true;
  ArrayRef<HostArray> biases = arrays.slice(3, problem.biases.size());
  for (auto [bias, array] : llvm::zip_equal(problem.biases, biases)) {
    auto &sizes = array.layout.sizes;
    int64_t index[] = {std::min(b, sizes[0] - 1), std::min(n, sizes[1] - 1),
                       std::min(h, sizes[2] - 1), std::min(i, sizes[3] - 1),
                       std::min(j, sizes[4] - 1)};
    double value = array.read(index);
    if (bias.type == ElementType::I1 ? value == 0 : value == -INFINITY)
      return true;
  }
  return false;
}

/// For how many queries of a head biases drop key j.
static int64_t countDrops(const AttentionCase &problem,
                          ArrayRef<HostArray> arrays, int64_t b, int64_t n,
                          int64_t h, int64_t j) {
  return llvm::count_if(llvm::seq<int64_t>(0, problem.queries), [&](int64_t i) {
    return isDroppedFor(problem, arrays, b, n, h, i, j);
  });
}

/// `sequence`: keys or values.
static void poisonDropped(const AttentionCase &problem,
                          std::vector<HostArray> &arrays, unsigned sequence) {
  HostArray &key = arrays[sequence];
  // Few of those that some query keeps, so that there are numbers left.
  constexpr int64_t kStride = 37;
  key.forEach([&](ArrayRef<int64_t> index, int64_t at) {
    int64_t drops = 0, queries = 0;
    forEachSharer(problem, index, [&](int64_t b, int64_t n, int64_t h) {
      drops += countDrops(problem, arrays, b, n, h, index[2]);
      queries += problem.queries;
    });
    if (drops == queries || (sequence == 1 && problem.nanSome && drops > 0 &&
                             index[2] % kStride == kStride / 2))
      writeElement(key.layout.type, NAN, key.storage.data() + at);
  });
}

/// NaN in the first element of queries, values and gate, unless a bias drops
/// the first key: its value does not count then, nor need the kernel see its
/// product with the query.
static void poisonFirstElements(const AttentionCase &problem,
                                std::vector<HostArray> &arrays) {
  size_t numBiases = problem.biases.size();
  auto isDropped = [&](int64_t b, int64_t n, int64_t h) {
    return countDrops(problem, arrays, b, n, h, 0) == problem.queries;
  };
  auto poison = [&](HostArray &array, bool isOfKeys) {
    array.forEach([&](ArrayRef<int64_t> index, int64_t at) {
      if (index[2] != 0 || index[4] != 0)
        return;
      bool dropped = !isOfKeys && isDropped(index[0], index[1], index[3]);
      if (isOfKeys)
        forEachSharer(problem, index, [&](int64_t b, int64_t n, int64_t h) {
          dropped |= isDropped(b, n, h);
        });
      if (!dropped)
        writeElement(array.layout.type, NAN, array.storage.data() + at);
    });
  };
  poison(arrays[0], /*isOfKeys=*/false);
  poison(arrays[2], /*isOfKeys=*/true);
  if (problem.gateType)
    poison(arrays[3 + numBiases + countCaptures(problem)], /*isOfKeys=*/false);
}

/// Every third query times 2^122: their scores lie on both sides of zero, as
/// far from it as the lowest bias is from the lowest f32 and farther.
static void enlargeQueries(HostArray &queries) {
  queries.forEach([&](ArrayRef<int64_t> index, int64_t at) {
    if (index[2] % 3 == 1)
      writeElement(queries.layout.type, queries.read(index) * 0x1p122,
                   queries.storage.data() + at);
  });
}

static void putNumbers(const AttentionCase &problem,
                       std::vector<HostArray> &arrays) {
  std::vector<CaseOperand> operands = getOperands(problem);
  for (const PutNumber &put : problem.puts) {
    auto operand = llvm::find_if(operands, [&](const CaseOperand &operand) {
      return operand.name == put.operand;
    });
    arrays[operand - operands.begin()].write(put.index, put.number);
  }
}

void mlir::evoformer::fillInputs(const AttentionCase &problem,
                                 std::vector<HostArray> &arrays) {
  if (problem.isRagged()) {
    AttentionCase denseCase = getDense(problem);
    std::vector<HostArray> dense;
    for (const CaseOperand &operand : getOperands(denseCase))
      dense.emplace_back(operand.layout);
    fillInputs(denseCase, dense);
    packInputs(problem, dense, arrays);
    putNumbers(problem, arrays);
    return;
  }
  size_t numBiases = problem.biases.size();
  std::vector<CaseOperand> operands = getOperands(problem);
  for (size_t i = 0; i < arrays.size(); ++i) {
    uint64_t seed = problem.seed * 100 + i;
    bool isBias = i >= 3 && i < 3 + numBiases;
    bool isSequence =
        i < 3 || operands[i].name == "gate" ||
        (llvm::StringRef(operands[i].name).starts_with("capture") &&
         !operands[i].isOutput) ||
        operands[i].name == "out_grad";
    if (isBias) {
      fillBias(problem.biases[i - 3], seed, arrays[i]);
    } else if (operands[i].name == "key_lengths") {
      fillLengths(*problem.keyLengths, problem.keys, seed, arrays[i]);
    } else if (operands[i].name == "dropout") {
      auto [seed, offset] = getDropoutState(problem);
      arrays[i].write({0}, static_cast<double>(seed));
      arrays[i].write({1}, static_cast<double>(offset));
    } else if (operands[i].name == "query_lengths") {
      fillLengths(*problem.queryLengths, problem.queries, seed, arrays[i]);
    } else if (isSequence) {
      Drawer drawer(arrays[i].layout.type, seed);
      drawer.addNormals(kManyNormals);
      drawer.fill(arrays[i]);
    }
  }
  putNumbers(problem, arrays);
  if (problem.largeScores)
    enlargeQueries(arrays[0]);
  if (problem.nanKeys && problem.zero.empty())
    poisonDropped(problem, arrays, 1);
  if (problem.nanValues && problem.zero.empty())
    poisonDropped(problem, arrays, 2);
  if (problem.nanFirst && problem.zero.empty())
    poisonFirstElements(problem, arrays);
  poisonBehind(problem, arrays);
}
