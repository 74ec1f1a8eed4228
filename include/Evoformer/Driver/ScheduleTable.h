//===- ScheduleTable.h - Schedules by chip and shape ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What evoformer-tune found, as data: a JSON file that a user names
// (docs/tuning.md). Nothing is looked up where nobody does.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_SCHEDULETABLE_H
#define EVOFORMER_DRIVER_SCHEDULETABLE_H

#include "Evoformer/Driver/AttentionCase.h"
#include "Evoformer/Driver/Compile.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <tuple>
#include <vector>

namespace mlir::evoformer {

/// What a schedule depends on.
struct ProblemShape {
  std::string type;
  /// The larger one of keys' and values'.
  int64_t depth = 0;
  int64_t queries = 0, keys = 0;
  /// Batches times rows times heads.
  int64_t items = 0;

  /// Shapes of a class share schedules: lengths up to the same power of two,
  /// and items up to the same power of four.
  auto getClass() const {
    return std::make_tuple(type, depth, roundUp(queries, 1), roundUp(keys, 1),
                           roundUp(items, 2));
  }
  /// `bf16,32,384,384,1536`, in this order.
  std::string str() const;

private:
  /// The exponent of the power of 2^step.
  static int64_t roundUp(int64_t number, unsigned step);
};

llvm::Expected<ProblemShape> parseProblemShape(llvm::StringRef text);
ProblemShape getShape(const AttentionCase &problem);

/// The best schedule of one kernel.
struct ScheduleEntry {
  std::string chip;
  /// `attention`, `query_grad`, … as schedules name it.
  std::string kernel;
  ProblemShape shape;
  /// `q=64,k=32`; empty: the default.
  std::string schedule;
  /// What the launches take that it changes, and those in whose place they are:
  /// measured microseconds or modelled cycles.
  bool isMeasured = false;
  double cost = 0, defaultCost = 0;

  bool isOfSameClass(const ScheduleEntry &other) const;
};

bool fromJSON(const llvm::json::Value &value, ScheduleEntry &entry,
              llvm::json::Path path);

class ScheduleTable {
public:
  static llvm::Expected<ScheduleTable> read(llvm::StringRef path);
  llvm::Error write(llvm::StringRef path) const;

  /// Takes the place of an entry of the same chip, kernel and class; false
  /// where that one was measured and this one is not.
  bool add(ScheduleEntry entry);
  /// `attention:v1:q=64;query_grad:v1:…`, or nothing.
  std::string find(llvm::StringRef chip, const ProblemShape &shape) const;

  const std::vector<ScheduleEntry> &getEntries() const { return entries; }

private:
  std::vector<ScheduleEntry> entries;
};

/// Where options name a table and force nothing, sets their schedule to the
/// table's for the shape. An error is a table that cannot be read.
llvm::Error chooseFromTable(CompileOptions &options, const ProblemShape &shape);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_SCHEDULETABLE_H
