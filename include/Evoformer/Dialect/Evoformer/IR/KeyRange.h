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

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_KEYRANGE_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_KEYRANGE_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace mlir::evoformer {

/// A function of the query's index i and the numbers sq and sk of queries and
/// keys that does not fall with i:
///
///   coefficient * (i floordiv granule) * granule
///     + ofQueries * sq + ofKeys * sk + constant
struct KeyBound {
  /// 0 or 1.
  int64_t coefficient = 0;
  /// At least 1.
  int64_t granule = 1;
  /// -1, 0 or 1.
  int64_t ofQueries = 0, ofKeys = 0;
  /// At most kMaxConstant in size.
  int64_t constant = 0;

  static constexpr int64_t kMaxConstant = int64_t(1) << 30;

  /// The bound that `map`, (i)[sq, sk] -> (..), stands for; the diagnostic says
  /// what is accepted.
  static FailureOr<KeyBound>
  get(AffineMap map, function_ref<InFlightDiagnostic()> emitError);
  /// The same as text, as the C API and covers have it: "i/32*32+sk-sq-48".
  static llvm::Expected<KeyBound> parse(StringRef text);

  AffineMap getMap(MLIRContext *context) const;
  /// The map as the textual form has it.
  std::string str() const;
  int64_t at(int64_t query, int64_t numQueries, int64_t numKeys) const;

  friend bool operator==(const KeyBound &a, const KeyBound &b) {
    return std::tie(a.coefficient, a.granule, a.ofQueries, a.ofKeys,
                    a.constant) == std::tie(b.coefficient, b.granule,
                                            b.ofQueries, b.ofKeys, b.constant);
  }
};

/// Query i sees the keys j with from(i) <= j < to(i); without a bound those
/// from the first, or to the last.
struct KeyRange {
  std::optional<KeyBound> from, to;

  bool isWhole() const { return !from && !to; }
  /// Whether queries see different keys.
  bool moves() const {
    return (from && from->coefficient) || (to && to->coefficient);
  }
  /// The clause `keys(..)` of the textual form; empty where it is whole.
  std::string str() const;
  /// Without the bounds that hold for every key, as far as sizes are known.
  KeyRange simplified(int64_t numQueries, int64_t numKeys) const;
};

/// How many pairs of a query and a key a range has.
double countPairs(const KeyRange &range, int64_t numQueries, int64_t numKeys);

} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_KEYRANGE_H
