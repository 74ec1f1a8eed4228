//===- ScheduleRequest.cpp - Schedules as text ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionSchedule.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;

static constexpr StringLiteral kForm =
    "expected 'v1:' and any of rows=<n>, q=<n>, k=<n>, subgroups=<n>x<n>, "
    "stages=<n>, resident=<n>, steps=<n>, pieces=<n>, own=registers|lds, "
    "products=subgroup|group, separated by commas, for all kernels or after "
    "'attention:', "
    "'query_grad:', 'key_value_grad:', 'bias_grad:' or "
    "'weights:'; a semicolon separates kernels";

/// Larger numbers are mistakes, and products of smaller ones do not overflow.
static constexpr int64_t kLargest = 4096;

const ScheduleRequest &ScheduleRequests::of(GradientKind kind) const {
  switch (kind) {
  case GradientKind::Query:
  case GradientKind::QueryBias:
    return queryGrad;
  case GradientKind::KeyValue:
  case GradientKind::Head:
  case GradientKind::Joint:
    return keyValueGrad;
  case GradientKind::Bias:
    return biasGrad;
  case GradientKind::Weights:
    return weights;
  }
  llvm_unreachable("an unknown kind of gradient");
}

int64_t ScheduleRequests::getMostRows() const {
  int64_t most = 1;
  for (const ScheduleRequest *request :
       {&attention, &queryGrad, &keyValueGrad, &biasGrad, &weights})
    most = std::max(most, request->rows.value_or(1));
  return most;
}

/// What is wrong with the entries of a schedule; nothing where all are right.
static std::optional<std::string> parseEntries(StringRef text,
                                               ScheduleRequest &request) {
  while (!text.empty()) {
    auto [entry, tail] = text.split(',');
    text = tail;
    auto [key, number] = entry.split('=');
    key = key.trim();
    number = number.trim();
    if (key == "own") {
      if (request.own)
        return "'own' is there twice";
      request.own = tile::symbolizeOwnOperands(number);
      if (!request.own)
        return ("'" + entry.trim() + "' is neither own=registers nor own=lds")
            .str();
      continue;
    }
    if (key == "products") {
      if (request.products)
        return "'products' is there twice";
      request.products = tile::symbolizeProductScope(number);
      // Which kernel hands tiles over is not for a request to say.
      if (!request.products || *request.products == tile::ProductScope::Handed)
        return ("'" + entry.trim() +
                "' is neither products=subgroup nor products=group")
            .str();
      continue;
    }
    std::optional<int64_t> *field =
        llvm::StringSwitch<std::optional<int64_t> *>(key)
            .Case("rows", &request.rows)
            .Case("q", &request.queries)
            .Case("k", &request.keys)
            .Case("subgroups", &request.subgroups)
            .Case("stages", &request.stages)
            .Case("resident", &request.resident)
            .Case("steps", &request.steps)
            .Case("pieces", &request.pieces)
            .Default(nullptr);
    if (!field)
      return ("unknown entry '" + key + "'").str();
    if (*field)
      return ("'" + key + "' is there twice").str();
    auto read = [&](StringRef digits, std::optional<int64_t> &into) {
      int64_t value;
      if (digits.getAsInteger(10, value) || value < 1 || value > kLargest)
        return false;
      into = value;
      return true;
    };
    StringRef along;
    if (field == &request.subgroups) {
      std::tie(number, along) = number.split('x');
      if (along.empty())
        return ("'" + entry.trim() + "' is not subgroups=<n>x<n>").str();
    }
    if (!read(number, *field) ||
        (!along.empty() && !read(along, request.subgroupsAlongOther)))
      return ("'" + entry.trim() + "' is not a number from 1 to " +
              Twine(kLargest))
          .str();
    if (field == &request.stages && **field > tile::kMaxStages)
      return ("at most " + Twine(tile::kMaxStages) + " stages, not " +
              Twine(**field))
          .str();
    if (field == &request.resident && **field > tile::kMaxResident)
      return ("at most " + Twine(tile::kMaxResident) +
              " resident workgroups, not " + Twine(**field))
          .str();
  }
  return std::nullopt;
}

FailureOr<ScheduleRequests> evoformer::parseSchedules(Location loc,
                                                      StringRef text) {
  ScheduleRequests requests;
  auto fail = [&](const Twine &what) -> FailureOr<ScheduleRequests> {
    return emitError(loc) << "schedule '" << text.trim() << "': " << what
                          << "; " << kForm;
  };
  llvm::StringSet<> named;
  StringRef rest = text.trim();
  while (!rest.empty()) {
    auto [part, tail] = rest.split(';');
    rest = tail;
    part = part.trim();
    ScheduleRequest request;
    StringRef kernel;
    if (!part.starts_with("v1:"))
      std::tie(kernel, part) = part.split(':');
    if (!part.consume_front("v1:"))
      return fail("unknown version");
    if (std::optional<std::string> wrong = parseEntries(part, request))
      return fail(*wrong);
    if (!named.insert(kernel).second)
      return fail(kernel.empty()
                      ? Twine("what is for all kernels is there twice")
                      : "'" + kernel + "' is there twice");
    if (kernel.empty()) {
      if (named.size() > 1)
        return fail("what is for all kernels comes first");
      requests = {request, request, request, request, request};
      continue;
    }
    auto *of = llvm::StringSwitch<ScheduleRequest *>(kernel)
                   .Case("attention", &requests.attention)
                   .Case("query_grad", &requests.queryGrad)
                   .Case("key_value_grad", &requests.keyValueGrad)
                   .Case("bias_grad", &requests.biasGrad)
                   .Case("weights", &requests.weights)
                   .Default(nullptr);
    if (!of)
      return fail("unknown kernel '" + kernel + "'");
    *of = request;
  }
  return requests;
}
