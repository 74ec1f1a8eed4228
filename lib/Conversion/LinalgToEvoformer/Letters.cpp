//===- Letters.cpp - Which axes are which dimension -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Letters.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

/// Largest D and Dv of the op.
static constexpr int64_t kMaxDepth = 256;
/// Most heads of queries that share one of keys.
static constexpr int64_t kMaxGroupSize = 1 << 16;

Coordinate Letters::getKeyHeads() const {
  return Coordinate(h.begin(), h.end() - group.size());
}

namespace {
class LetterAssignment {
public:
  LetterAssignment(ExpressionReader &reader, const AttentionForm &form,
                   std::optional<Refused> &refused)
      : reader(reader), form(form), refused(refused) {}

  FailureOr<Letters> run();

private:
  LogicalResult refuse(Refusal refusal, Location loc) {
    refused = Refused{refusal, loc};
    return failure();
  }

  /// The axes of an operand in the order in which they lie.
  Coordinate getOrder(Expr *expr);
  LogicalResult sortAxes();
  LogicalResult splitQueries();
  LogicalResult assignBatch();
  LogicalResult checkBiasesAndGate();
  LogicalResult checkSizes();
  bool liesTogether(ArrayRef<AxisId> axes, size_t numShared = 0);

  ExpressionReader &reader;
  const AttentionForm &form;
  std::optional<Refused> &refused;

  Letters letters;
  /// In the output's order.
  Coordinate batch, queryLike;
  Coordinate output, query, key, value;
  /// Of biases and the gate.
  struct Other {
    Coordinate order;
    /// No tensor of the program holds it: it may lie in any order.
    bool isFree;
  };
  SmallVector<Other> others;
};
} // namespace

static bool contains(ArrayRef<AxisId> axes, AxisId axis) {
  return llvm::is_contained(axes, axis);
}

Coordinate LetterAssignment::getOrder(Expr *expr) {
  Coordinate order;
  if (expr->kind == ExprKind::Read) {
    for (const Coordinate &coordinate :
         reader.getAxes().resolveAll(expr->coordinates))
      llvm::append_range(order, coordinate);
    return order;
  }
  AxisSet axes = reader.getAxes(expr);
  order.assign(axes.begin(), axes.end());
  llvm::sort(order);
  return order;
}

/// Whether every operand has these axes beside each other in this order, or
/// none of them; keys and values without the last `numShared`.
bool LetterAssignment::liesTogether(ArrayRef<AxisId> all, size_t numShared) {
  if (all.size() < 2)
    return true;
  auto check = [](ArrayRef<AxisId> order, ArrayRef<AxisId> axes) {
    if (axes.empty())
      return true;
    const auto *first = llvm::find(order, axes.front());
    if (first == order.end())
      return llvm::none_of(axes,
                           [&](AxisId axis) { return contains(order, axis); });
    return static_cast<size_t>(order.end() - first) >= axes.size() &&
           std::equal(axes.begin(), axes.end(), first);
  };
  ArrayRef<AxisId> ofKeys = all.drop_back(numShared);
  return check(output, all) && check(query, all) && check(key, ofKeys) &&
         check(value, ofKeys) && llvm::all_of(others, [&](const Other &other) {
           auto isThere = [&](AxisId axis) {
             return contains(other.order, axis);
           };
           return other.isFree ? llvm::all_of(all, isThere) ||
                                     llvm::none_of(all, isThere)
                               : check(other.order, all);
         });
}

LogicalResult LetterAssignment::sortAxes() {
  for (const Coordinate &coordinate :
       reader.getAxes().resolveAll(form.rootCoordinates))
    llvm::append_range(output, coordinate);
  query = getOrder(form.query);
  key = getOrder(form.key);
  value = getOrder(form.value);
  Coordinate keys = reader.getAxes().resolve(form.keys);
  Coordinate depth = reader.getAxes().resolve(form.depth);
  Location loc = form.root.getLoc();

  for (const Coordinate *order : {&output, &query, &key, &value})
    for (size_t i = 0; i < order->size(); ++i)
      if (contains(ArrayRef(*order).drop_front(i + 1), (*order)[i]))
        return refuse(Refusal::Dimensions, loc);
  for (AxisId axis : output) {
    bool ofQuery = contains(query, axis), ofKey = contains(key, axis);
    bool ofValue = contains(value, axis);
    if (ofQuery && ofKey && ofValue)
      batch.push_back(axis);
    else if (ofQuery && !ofKey && !ofValue)
      queryLike.push_back(axis);
    else if (!ofQuery && !ofKey && ofValue)
      letters.e.push_back(axis);
    else
      return refuse(Refusal::Dimensions, loc);
  }
  for (AxisId axis : value)
    if (!contains(output, axis)) {
      if (!contains(keys, axis))
        return refuse(Refusal::Dimensions, loc);
      letters.k.push_back(axis);
    }
  for (AxisId axis : query)
    if (!contains(output, axis)) {
      if (!contains(depth, axis))
        return refuse(Refusal::Dimensions, loc);
      letters.d.push_back(axis);
    }
  for (AxisId axis : key)
    if (!contains(batch, axis) && !contains(letters.k, axis) &&
        !contains(letters.d, axis))
      return refuse(Refusal::Dimensions, loc);
  auto hasAll = [](ArrayRef<AxisId> order, ArrayRef<AxisId> axes) {
    return llvm::all_of(axes,
                        [&](AxisId axis) { return contains(order, axis); });
  };
  if (!hasAll(letters.k, keys) || !hasAll(key, keys) ||
      !hasAll(letters.d, depth) || !hasAll(key, depth))
    return refuse(Refusal::Dimensions, loc);
  return success();
}

/// Queries are one dimension, or the last of several where the others are heads
/// that share keys.
LogicalResult LetterAssignment::splitQueries() {
  letters.q = queryLike;
  if (liesTogether(letters.q))
    return success();
  letters.group = Coordinate(queryLike.begin(), queryLike.end() - 1);
  letters.q = {queryLike.back()};
  return success();
}

LogicalResult LetterAssignment::assignBatch() {
  SmallVector<Coordinate> parts;
  for (AxisId axis : batch)
    parts.push_back({axis});
  // Heads that share keys follow the head that they share.
  if (!letters.group.empty()) {
    if (parts.empty())
      parts.emplace_back();
    llvm::append_range(parts.back(), letters.group);
    if (!liesTogether(parts.back(), letters.group.size()))
      return refuse(Refusal::Layout, form.root.getLoc());
  }
  while (parts.size() > 3) {
    bool merged = false;
    for (size_t i = 0; i + 1 < parts.size() && !merged; ++i) {
      Coordinate joined = parts[i];
      llvm::append_range(joined, parts[i + 1]);
      size_t numShared = i + 2 == parts.size() ? letters.group.size() : 0;
      if (!liesTogether(joined, numShared))
        continue;
      parts[i] = joined;
      parts.erase(parts.begin() + i + 1);
      merged = true;
    }
    if (!merged)
      return refuse(Refusal::Layout, form.root.getLoc());
  }
  if (parts.empty())
    return success();
  letters.h = parts.pop_back_val();
  if (parts.empty())
    return success();
  // Rows are what a bias of queries and keys is shared by, or the last.
  auto isSharedBy = [&](ArrayRef<AxisId> axes) {
    return llvm::any_of(others, [&](const Other &other) {
      auto hasAny = [&](ArrayRef<AxisId> of) {
        return llvm::any_of(
            of, [&](AxisId axis) { return contains(other.order, axis); });
      };
      return hasAny(letters.q) && hasAny(letters.k) && !hasAny(axes);
    });
  };
  Coordinate *rows = llvm::find_if(parts, isSharedBy);
  // Where the heads' bias is not theirs but another's, they change places.
  if (rows == parts.end() && letters.group.empty() && isSharedBy(letters.h)) {
    std::swap(parts.back(), letters.h);
    rows = &parts.back();
  }
  if (rows == parts.end())
    rows = &parts.back();
  letters.n = *rows;
  parts.erase(rows);
  if (!parts.empty())
    letters.b = parts.front();
  return success();
}

LogicalResult LetterAssignment::checkBiasesAndGate() {
  auto isWide = [](const Expr *expr) {
    return expr->type.getIntOrFloatBitWidth() > 32;
  };
  for (const BiasForm &bias : form.biases) {
    if (!bias.isMask && isWide(bias.expr))
      return refuse(Refusal::ElementType, bias.expr->loc);
    Coordinate order = getOrder(bias.expr);
    for (size_t i = 0; i < order.size(); ++i)
      if (!(contains(batch, order[i]) || contains(queryLike, order[i]) ||
            contains(letters.k, order[i])) ||
          contains(ArrayRef(order).drop_front(i + 1), order[i]))
        return refuse(Refusal::BiasDimensions, bias.expr->loc);
    others.push_back({order, bias.expr->kind != ExprKind::Read});
  }
  if (form.gate) {
    if (isWide(form.gate))
      return refuse(Refusal::ElementType, form.gate->loc);
    Coordinate order = getOrder(form.gate);
    Coordinate sorted = order, wanted = output;
    llvm::sort(sorted);
    llvm::sort(wanted);
    if (sorted != wanted)
      return refuse(Refusal::BiasDimensions, form.gate->loc);
    others.push_back({order, form.gate->kind != ExprKind::Read});
  }
  return success();
}

LogicalResult LetterAssignment::checkSizes() {
  auto getSize = [&](ArrayRef<AxisId> axes) {
    int64_t size = 1;
    for (AxisId axis : axes) {
      int64_t known = reader.getAxes().getSize(axis);
      if (ShapedType::isDynamic(known) || known > kMaxGroupSize)
        return int64_t{0};
      size *= known;
    }
    return size;
  };
  for (const Coordinate *depth : {&letters.d, &letters.e}) {
    int64_t size = getSize(*depth);
    if (depth->size() > 16 || size < 1 || size > kMaxDepth)
      return refuse(Refusal::Depth, form.root.getLoc());
  }
  int64_t groupSize = letters.group.size() > 2 ? 0 : getSize(letters.group);
  if (groupSize < 1 || groupSize > kMaxGroupSize)
    return refuse(Refusal::Layout, form.root.getLoc());
  return success();
}

FailureOr<Letters> LetterAssignment::run() {
  if (failed(sortAxes()) || failed(checkBiasesAndGate()) ||
      failed(splitQueries()) || failed(assignBatch()) || failed(checkSizes()))
    return failure();
  for (const Coordinate *axes : {&letters.k, &letters.d, &letters.e})
    if (!liesTogether(*axes))
      return refuse(Refusal::Layout, form.root.getLoc());
  return letters;
}

FailureOr<Letters> raising::assignLetters(ExpressionReader &reader,
                                          const AttentionForm &form,
                                          std::optional<Refused> &refused) {
  return LetterAssignment(reader, form, refused).run();
}
