//===- JSONReader.h - Reading a plan with readable errors -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_JSONREADER_H
#define EVOFORMER_LIB_RUNTIME_JSONREADER_H

#include "Evoformer/Runtime/Plan.h"
#include "llvm/ADT/Twine.h"

namespace mlir::evoformer::runtime {

/// Accessors of a JSON object's members. The first failure is kept with the
/// place where it happened; later accesses return harmless values, so that the
/// readers need not check after each one.
class JSONReader {
public:
  explicit JSONReader(std::string place) : place(std::move(place)) {}

  bool failed() const { return !message.empty(); }
  void fail(const llvm::Twine &what) {
    if (!failed())
      message = ("launch plan: " + place + ": " + what).str();
  }
  llvm::Error takeError() const { return llvm::createStringError(message); }
  void setPlace(const llvm::Twine &text) { place = text.str(); }
  llvm::StringRef getPlace() const { return place; }

  const llvm::json::Object &asObject(const llvm::json::Value &value,
                                     llvm::StringRef what);
  const llvm::json::Array &getArray(const llvm::json::Object &object,
                                    llvm::StringRef key, bool optional = false);
  llvm::StringRef getString(const llvm::json::Object &object,
                            llvm::StringRef key);
  int64_t getInteger(const llvm::json::Object &object, llvm::StringRef key);
  int64_t asInteger(const llvm::json::Value &value, llvm::StringRef what);
  /// A type: `"i64"` or `{"memref": …}`.
  PlanType asType(const llvm::json::Value &value);
  PlanType getType(const llvm::json::Object &object, llvm::StringRef key);
  /// `"%12"`; nullopt (and no failure) when it is no string.
  std::optional<ValueId> asValue(const llvm::json::Value &value);

private:
  PlanType asMemRefType(const llvm::json::Object &object);
  /// Sizes or strides; null is dynamic.
  void readExtents(const llvm::json::Array &array,
                   llvm::SmallVectorImpl<int64_t> &out, llvm::StringRef what);

  std::string place, message;
};

/// More nesting or values than this is no plan of ours; it bounds what a
/// malformed file can cost.
constexpr unsigned maxPlanDepth = 200;
constexpr uint64_t maxPlanValues = 1 << 20;

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_JSONREADER_H
