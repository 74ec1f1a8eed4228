//===- KeyRange.cpp - The keys that a query sees --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Support/KeyRange.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir::evoformer;
using llvm::StringRef;
using llvm::Twine;

bool KeyBound::addQuery(int64_t divisor, int64_t factor) {
  if ((coefficient != 0 && granule != divisor) ||
      llvm::AddOverflow(coefficient, factor, coefficient))
    return false;
  granule = coefficient == 0 ? 1 : divisor;
  return true;
}

const char *KeyBound::findFault() const {
  if (coefficient < 0 || coefficient > 1)
    return "the query's index must have the coefficient 0 or 1";
  if (granule < 1 || granule > kMaxConstant)
    return "the query's index must be divided by 1 to 2^30";
  auto isSign = [](int64_t factor) { return factor >= -1 && factor <= 1; };
  if (!isSign(ofQueries) || !isSign(ofKeys))
    return "sq and sk must have the coefficient -1, 0 or 1";
  if (!llvm::all_of(ofOperands, isSign))
    return "operands must have the coefficient -1, 0 or 1";
  if (constant > kMaxConstant || constant < -kMaxConstant)
    return "the constant must be from -2^30 to 2^30";
  return nullptr;
}

int64_t KeyBound::hold(int64_t number) {
  return std::clamp(number, -kMaxOperand, kMaxOperand);
}

int64_t KeyBound::sumOperands(llvm::ArrayRef<int64_t> operands) const {
  int64_t sum = 0;
  for (auto [factor, operand] : llvm::zip_equal(ofOperands, operands))
    sum += factor * hold(operand);
  return hold(sum);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

llvm::Expected<KeyBound> KeyBound::parse(StringRef text) {
  KeyBound bound;
  auto fail = [&](const Twine &why) {
    return llvm::createStringError(
        "'" + text + "': " + why +
        "; accepted are sums of i or i/c*c, sq, sk and numbers, like "
        "i/32*32+sk-sq-48");
  };
  StringRef rest = text;
  if (rest.empty())
    return fail("a bound is empty");
  bool isFirst = true;
  while (!rest.empty()) {
    int64_t sign = 1;
    if (rest.consume_front("-"))
      sign = -1;
    else if (!rest.consume_front("+") && !isFirst)
      return fail("expected + or - before '" + rest + "'");
    isFirst = false;
    if (rest.consume_front("sq")) {
      bound.ofQueries += sign;
    } else if (rest.consume_front("sk")) {
      bound.ofKeys += sign;
    } else if (rest.consume_front("i")) {
      int64_t granule = 1, again;
      if (rest.consume_front("/") &&
          (rest.consumeInteger(10, granule) || !rest.consume_front("*") ||
           rest.consumeInteger(10, again) || again != granule))
        return fail("expected i/c*c with one number c");
      if (!bound.addQuery(granule, sign))
        return fail("expected i with one divisor");
    } else {
      int64_t number;
      if (rest.consumeInteger(10, number) || number < 0 ||
          number > kMaxConstant)
        return fail("expected a term at '" + rest + "'");
      bound.constant += sign * number;
    }
  }
  if (const char *fault = bound.findFault())
    return fail(fault);
  return bound;
}

std::string KeyBound::str() const {
  std::string text = "affine_map<(i)[sq, sk";
  llvm::raw_string_ostream os(text);
  for (size_t number = 0; number < ofOperands.size(); ++number)
    os << ", x" << number;
  os << "] -> (";
  if (coefficient && granule != 1)
    os << "(i floordiv " << granule << ") * " << granule << " + ";
  else if (coefficient)
    os << "i + ";
  for (auto [number, factor] : llvm::enumerate(ofOperands))
    os << "x" << number << " * " << factor << " + ";
  os << "sq * " << ofQueries << " + sk * " << ofKeys << " + " << constant
     << ")>";
  return text;
}

std::string KeyRange::str() const {
  if (isWhole())
    return "";
  std::string text = "keys(";
  auto add = [&](const char *name, const KeyBound &bound) {
    text += name + (" " + bound.str());
    for (size_t number = 0; number < bound.ofOperands.size(); ++number)
      text += (number == 0 ? "[%" : ", %") + (name + std::to_string(number));
    text += bound.hasOperands() ? "]" : "";
  };
  if (from)
    add("from", *from);
  if (from && to)
    text += ", ";
  if (to)
    add("to", *to);
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t KeyBound::at(int64_t query, int64_t numQueries, int64_t numKeys,
                     int64_t ofOperands) const {
  return coefficient * (query / granule) * granule + ofQueries * numQueries +
         ofKeys * numKeys + constant + ofOperands;
}

std::optional<int64_t> KeyRange::getWidth() const {
  if (!from || !to || from->hasOperands() || to->hasOperands())
    return std::nullopt;
  KeyBound shifted = *from;
  shifted.constant = to->constant;
  if (!(shifted == *to))
    return std::nullopt;
  return std::max<int64_t>(to->constant - from->constant, 0);
}

KeyRange KeyRange::simplified(std::optional<int64_t> numQueries,
                              std::optional<int64_t> numKeys) const {
  KeyRange result = *this;
  int64_t queries = numQueries.value_or(0), keys = numKeys.value_or(0);
  // Whether a bound's value for the last (or first) query follows from what is
  // known; `ofKeys` is what of sk is taken away first.
  auto isKnown = [&](const KeyBound &bound, int64_t ofKeys, bool ofLast) {
    return !bound.hasOperands() && (numKeys || bound.ofKeys == ofKeys) &&
           (numQueries ||
            (bound.ofQueries == 0 && !(ofLast && bound.coefficient)));
  };
  if (from && isKnown(*from, 0, /*ofLast=*/true) &&
      from->at(std::max<int64_t>(queries - 1, 0), queries, keys) <= 0)
    result.from = std::nullopt;
  if (to && isKnown(*to, 1, /*ofLast=*/false) &&
      to->at(0, queries, keys) >= keys)
    result.to = std::nullopt;
  return result;
}

double mlir::evoformer::countPairs(const KeyRange &range, int64_t numQueries,
                                   int64_t numKeys) {
  double count = 0;
  for (int64_t query = 0; query < numQueries; ++query) {
    int64_t from = 0, to = numKeys;
    if (range.from && !range.from->hasOperands())
      from = std::max(from, range.from->at(query, numQueries, numKeys));
    if (range.to && !range.to->hasOperands())
      to = std::min(to, range.to->at(query, numQueries, numKeys));
    count += static_cast<double>(std::max<int64_t>(to - from, 0));
  }
  return count;
}
