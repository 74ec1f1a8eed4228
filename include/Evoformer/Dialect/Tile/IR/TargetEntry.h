//===- TargetEntry.h - Entries of a target's dictionaries -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the code generated from TargetEntries.td is made of.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TARGETENTRY_H
#define EVOFORMER_DIALECT_TILE_IR_TARGETENTRY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::evoformer::tile {

struct TargetEntry {
  StringRef key;
  /// As messages write it.
  StringRef type;
  bool (*isValid)(Attribute value);
};

inline bool isFlag(Attribute value) { return isa<UnitAttr>(value); }

inline bool isName(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.getValue().empty();
}

inline bool isIntrinsic(Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  return name && name.getValue().starts_with("llvm.");
}

inline bool isCount(Attribute value, int64_t most) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 1 && number.getInt() <= most;
}

inline bool isOneOf(Attribute value, ArrayRef<int64_t> accepted) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) &&
         llvm::is_contained(accepted, number.getInt());
}

// The verifier has seen to the types.
inline bool readEntry(DictionaryAttr entries, StringRef key, bool fallback) {
  return fallback || entries.contains(key);
}

inline int64_t readEntry(DictionaryAttr entries, StringRef key,
                         int64_t fallback) {
  auto number = entries.getAs<IntegerAttr>(key);
  return number ? number.getInt() : fallback;
}

inline StringRef readEntry(DictionaryAttr entries, StringRef key,
                           StringRef fallback) {
  auto text = entries.getAs<StringAttr>(key);
  return text ? text.getValue() : fallback;
}

template <typename RowAttr>
RowAttr readEntry(DictionaryAttr entries, StringRef key, RowAttr) {
  return entries.getAs<RowAttr>(key);
}

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_TARGETENTRY_H
