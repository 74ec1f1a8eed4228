//===- KeyRange.h - The keys that a query sees ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bounds of `keys(from #map, to #map)`: causal attention, sliding windows
// and windows of blocks (Beltagy et al., "Longformer", 2020; Abramson et al.,
// "AlphaFold 3", 2024, algorithm 7) are two monotone functions of the query.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_SUPPORT_KEYRANGE_H
#define EVOFORMER_SUPPORT_KEYRANGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <tuple>

namespace mlir::evoformer {

/// A function of the query's index i and the numbers sq and sk of queries and
/// keys that does not fall with i:
///
///   coefficient * (i floordiv granule) * granule
///     + ofQueries * sq + ofKeys * sk + constant
///     + the sum of ofOperands[t] * operand t
///
/// Operands are numbers that are known when a program runs; each of them, and
/// their sum, is held to what `hold` says.
struct KeyBound {
  /// 0 or 1.
  int64_t coefficient = 0;
  /// At least 1.
  int64_t granule = 1;
  /// -1, 0 or 1.
  int64_t ofQueries = 0, ofKeys = 0;
  /// At most kMaxConstant in size.
  int64_t constant = 0;
  /// -1, 0 or 1.
  llvm::SmallVector<int64_t, 2> ofOperands = {};

  static constexpr int64_t kMaxConstant = int64_t(1) << 30;

  /// Whether the program that runs has a say.
  bool hasOperands() const { return !ofOperands.empty(); }
  /// What an operand, or a sum of some, counts as: less than 2^30 in size.
  static constexpr int64_t kMaxOperand = kMaxConstant - 1;
  static int64_t hold(int64_t number);
  /// What these operands add.
  int64_t sumOperands(llvm::ArrayRef<int64_t> operands) const;

  /// From text as the C interface and covers have it: "i/32*32+sk-sq-48".
  static llvm::Expected<KeyBound> parse(llvm::StringRef text);
  /// As the attention dialect's textual form has it: an affine map (i)[sq, sk],
  /// with a further symbol for each operand.
  std::string str() const;

  /// Adds factor * (i floordiv divisor) * divisor; false where that and what is
  /// there are no multiple of one term, or on overflow.
  bool addQuery(int64_t divisor, int64_t factor);

  /// What a bound does not keep to of the above, in words, or null.
  const char *findFault() const;
  /// The bound where operands add `ofOperands`.
  int64_t at(int64_t query, int64_t numQueries, int64_t numKeys,
             int64_t ofOperands = 0) const;

  friend bool operator==(const KeyBound &a, const KeyBound &b) {
    return std::tie(a.coefficient, a.granule, a.ofQueries, a.ofKeys, a.constant,
                    a.ofOperands) == std::tie(b.coefficient, b.granule,
                                              b.ofQueries, b.ofKeys, b.constant,
                                              b.ofOperands);
  }
};

/// Query i sees the keys j with from(i) <= j < to(i); without a bound those
/// from the first, or to the last.
struct KeyRange {
  std::optional<KeyBound> from, to;

  bool isWhole() const { return !from && !to; }
  friend bool operator==(const KeyRange &a, const KeyRange &b) {
    return a.from == b.from && a.to == b.to;
  }
  /// Whether a query sees a key, of bounds without operands.
  bool sees(int64_t query, int64_t key, int64_t numQueries,
            int64_t numKeys) const {
    return (!from || key >= from->at(query, numQueries, numKeys)) &&
           (!to || key < to->at(query, numQueries, numKeys));
  }
  /// Whether queries see different keys.
  bool moves() const {
    return (from && from->coefficient) || (to && to->coefficient);
  }
  /// How many keys each query sees where that is the same for all and known,
  /// but for those that there are not.
  std::optional<int64_t> getWidth() const;
  /// The clause `keys(..)` of the textual form; empty where it is whole.
  /// Operands are called %from0, %from1, .. and %to0, ..
  std::string str() const;
  /// Without the bounds that hold for every key, as far as sizes are known and
  /// there are no operands.
  KeyRange simplified(std::optional<int64_t> numQueries,
                      std::optional<int64_t> numKeys) const;
};

/// How many pairs of a query and a key a range has; a bound with operands may
/// leave out none.
double countPairs(const KeyRange &range, int64_t numQueries, int64_t numKeys);

} // namespace mlir::evoformer

#endif // EVOFORMER_SUPPORT_KEYRANGE_H
