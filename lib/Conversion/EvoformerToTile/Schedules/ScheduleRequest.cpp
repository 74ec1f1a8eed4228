//===- ScheduleRequest.cpp - Schedules as text ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionSchedule.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;

static constexpr StringLiteral kForm =
    "expected 'v1:' and any of rows=<n>, q=<n>, k=<n>, subgroups=<n>x1, "
    "stages=<n>, resident=<n>, separated by commas";

/// Larger numbers are mistakes, and products of smaller ones do not overflow.
static constexpr int64_t kLargest = 4096;

FailureOr<ScheduleRequest> evoformer::parseSchedule(Location loc,
                                                    StringRef text) {
  ScheduleRequest request;
  text = text.trim();
  if (text.empty())
    return request;
  auto fail = [&](const Twine &what) -> FailureOr<ScheduleRequest> {
    return emitError(loc) << "schedule '" << text << "': " << what << "; "
                          << kForm;
  };
  StringRef rest = text;
  if (!rest.consume_front("v1:"))
    return fail("unknown version");
  while (!rest.empty()) {
    auto [entry, tail] = rest.split(',');
    rest = tail;
    auto [key, number] = entry.split('=');
    std::optional<int64_t> *field =
        llvm::StringSwitch<std::optional<int64_t> *>(key.trim())
            .Case("rows", &request.rows)
            .Case("q", &request.queries)
            .Case("k", &request.keys)
            .Case("subgroups", &request.subgroups)
            .Case("stages", &request.stages)
            .Case("resident", &request.resident)
            .Default(nullptr);
    if (!field)
      return fail("unknown entry '" + key + "'");
    if (*field)
      return fail("'" + key + "' is there twice");
    number = number.trim();
    if (field == &request.subgroups && !number.consume_back("x1"))
      return fail("subgroups along the keys are not supported");
    int64_t value;
    if (number.getAsInteger(10, value) || value < 1 || value > kLargest)
      return fail("'" + entry.trim() + "' is not a number from 1 to " +
                  Twine(kLargest));
    if (field == &request.stages && value > tile::kMaxStages)
      return fail("at most " + Twine(tile::kMaxStages) + " stages, not " +
                  Twine(value));
    if (field == &request.resident && value > tile::kMaxResident)
      return fail("at most " + Twine(tile::kMaxResident) +
                  " resident workgroups, not " + Twine(value));
    *field = value;
  }
  return request;
}
