//===- CaseScore.cpp - A case's score -------------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseScore.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir::evoformer;
using llvm::createStringError;
using llvm::StringRef;
using reference::ScoreKind;

namespace {
/// A score's name, and what its region is; `%c` is its number, `%y` the result.
struct NamedScore {
  const char *name;
  ScoreKind kind;
  bool hasNumber;
  const char *body;
  /// Of the capture `%c0`; empty: none.
  StringRef capture = {};
};
} // namespace

static constexpr NamedScore kScores[] = {
    {"softcap", ScoreKind::Softcap, true, R"(
        %u = arith.divf %x, %c : f32
        %t = math.tanh %u : f32
        %y = arith.mulf %t, %c : f32)"},
    {"fastcap", ScoreKind::Fastcap, true, R"(
        %one = arith.constant 1.0 : f32
        %inverse = arith.divf %one, %c : f32
        %u = arith.mulf %x, %inverse : f32
        %t = math.tanh %u fastmath<afn> : f32
        %y = arith.mulf %t, %c : f32)"},
    {"alibi", ScoreKind::ALiBi, false, R"(
        %one = arith.constant 1 : i32
        %h1 = arith.addi %h, %one : i32
        %hf = arith.sitofp %h1 : i32 to f32
        %factor = arith.constant -8.0 : f32
        %product = arith.mulf %hf, %factor : f32
        %exponent = arith.divf %product, %c : f32
        %slope = math.exp2 %exponent : f32
        %last = arith.addi %i, %sk : i32
        %place = arith.subi %last, %sq : i32
        %behind = arith.subi %place, %j : i32
        %f = arith.sitofp %behind : i32 to f32
        %distance = math.absf %f : f32
        %term = arith.mulf %slope, %distance : f32
        %y = arith.subf %x, %term : f32)"},
    {"temperature", ScoreKind::Temperature, true, R"(
        %one = arith.constant 1.0 : f32
        %hf = arith.sitofp %h : i32 to f32
        %some = arith.mulf %hf, %c : f32
        %divisor = arith.addf %some, %one : f32
        %y = arith.divf %x, %divisor : f32)"},
    {"swish", ScoreKind::Swish, true, R"(
        %one = arith.constant 1.0 : f32
        %cx = arith.mulf %x, %c : f32
        %negative = arith.negf %cx : f32
        %power = math.exp %negative : f32
        %sum = arith.addf %power, %one : f32
        %y = arith.divf %x, %sum : f32)"},
    {"distance", ScoreKind::Distance, true, R"(
        %one = arith.constant 1.0 : f32
        %d = arith.subi %i, %j : i32
        %f = arith.sitofp %d : i32 to f32
        %a = math.absf %f : f32
        %a1 = arith.addf %a, %one : f32
        %log = math.log %a1 : f32
        %term = arith.mulf %log, %c : f32
        %y = arith.subf %x, %term : f32)"},
    {"buckets", ScoreKind::Buckets, true, R"(
        %zero = arith.constant 0 : i32
        %four = arith.constant 4 : i32
        %d = arith.subi %i, %j : i32
        %minus = arith.subi %zero, %d : i32
        %a = arith.maxsi %d, %minus : i32
        %bucket = arith.divsi %a, %four : i32
        %f = arith.sitofp %bucket : i32 to f32
        %y = math.fma %f, %c, %x : f32)"},
    {"slopes", ScoreKind::Slopes, false, R"(
        %last = arith.addi %i, %sk : i32
        %place = arith.subi %last, %sq : i32
        %behind = arith.subi %place, %j : i32
        %f = arith.sitofp %behind : i32 to f32
        %distance = math.absf %f : f32
        %term = arith.mulf %c0, %distance : f32
        %y = arith.subf %x, %term : f32)",
     "h"},
    {"matrix", ScoreKind::Matrix, false, R"(
        %y = arith.mulf %x, %c0 : f32)",
     "hqk"},
    {"keywise", ScoreKind::Keywise, true, R"(
        %term = arith.mulf %c0, %c : f32
        %y = arith.addf %x, %term : f32)",
     "bnk"},
    {"querywise", ScoreKind::Querywise, true, R"(
        %factor = math.exp2 %c0 : f32
        %some = arith.mulf %x, %factor : f32
        %y = arith.mulf %some, %c : f32)",
     "bhq"},
    {"table", ScoreKind::Table, true, R"(
        %eight = arith.constant 8 : i32
        %d = arith.subi %i, %j : i32
        %index = arith.addi %d, %eight : i32
        %entry = evoformer.lookup %c0[%index] : vector<19xf32>
        %term = arith.mulf %entry, %c : f32
        %y = arith.addf %x, %term : f32)",
     "h"},
    {"leaky", ScoreKind::Leaky, true, R"(
        %cx = arith.mulf %x, %c : f32
        %y = arith.maximumf %x, %cx : f32)"},
};

llvm::Error mlir::evoformer::parseScore(StringRef text, AttentionCase &result) {
  auto [name, number] = text.split(':');
  const auto *found = llvm::find_if(
      kScores, [name = name](auto &score) { return name == score.name; });
  double parameter = 0;
  if (found == std::end(kScores) || number.empty() == found->hasNumber ||
      (found->hasNumber && number.getAsDouble(parameter)))
    return createStringError(
        "score is alibi, slopes or matrix, or softcap, fastcap, temperature, "
        "swish, distance, buckets, keywise, querywise, table or leaky with a "
        "number "
        "like "
        "softcap:30, not '" +
        text + "'");
  result.score = text.str();
  result.scoreCase =
      reference::Score{found->kind, static_cast<float>(parameter)};
  return llvm::Error::success();
}

static const NamedScore &find(const reference::Score &score) {
  return *llvm::find_if(kScores,
                        [&](auto &each) { return each.kind == score.kind; });
}

llvm::ArrayRef<StringRef>
mlir::evoformer::getCaptures(const reference::Score &score) {
  const NamedScore &named = find(score);
  return named.capture.empty() ? llvm::ArrayRef<StringRef>() : named.capture;
}

size_t mlir::evoformer::countCaptures(const AttentionCase &problem) {
  return problem.scoreCase ? getCaptures(*problem.scoreCase).size() : 0;
}

void mlir::evoformer::writeScore(llvm::raw_ostream &os,
                                 const reference::Score &score) {
  const NamedScore &named = find(score);
  os << "      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, "
        "%sq: i32, %sk: i32"
     << (named.capture.empty()            ? ""
         : score.kind == ScoreKind::Table ? ", %c0: vector<19xf32>"
                                          : ", %c0: f32")
     << ") {\n        %c = arith.constant "
     << llvm::format("%.9e", score.parameter) << " : f32" << named.body
     << "\n        evoformer.yield %y : f32\n      }\n";
}
