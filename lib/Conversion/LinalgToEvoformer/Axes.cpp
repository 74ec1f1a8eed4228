//===- Axes.cpp - What dimensions are made of -----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Axes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

AxisId AxisSpace::add(int64_t size) {
  axes.push_back(Axis{size});
  return axes.size() - 1;
}

Coordinate AxisSpace::createLoop(int64_t size) {
  return size == 1 ? Coordinate{} : Coordinate{add(size)};
}

std::pair<AxisId, AxisId> AxisSpace::split(AxisId axis, int64_t outerSize,
                                           int64_t innerSize) {
  AxisId outer = add(outerSize);
  AxisId inner = add(innerSize);
  axes[axis].parts = {outer, inner};
  return {outer, inner};
}

Coordinate AxisSpace::resolve(ArrayRef<AxisId> coordinate) const {
  Coordinate resolved;
  // Splits nest at most as deep as a size has divisors.
  for (AxisId axis : coordinate) {
    if (axes[axis].parts.empty())
      resolved.push_back(axis);
    else
      llvm::append_range(resolved, resolve(axes[axis].parts));
  }
  return resolved;
}

Coordinates AxisSpace::resolveAll(ArrayRef<Coordinate> coordinates) const {
  return llvm::map_to_vector<5>(coordinates, [&](const Coordinate &coordinate) {
    return resolve(coordinate);
  });
}

void AxisSpace::learnSize(ArrayRef<AxisId> coordinate, int64_t size) {
  if (ShapedType::isDynamic(size))
    return;
  Axis *unknown = nullptr;
  int64_t known = 1;
  for (AxisId digit : resolve(coordinate)) {
    Axis &axis = axes[digit];
    if (ShapedType::isStatic(axis.size))
      known *= axis.size;
    else if (unknown)
      return;
    else
      unknown = &axis;
  }
  if (unknown && known != 0 && size % known == 0)
    unknown->size = size / known;
}

FailureOr<Coordinates> AxisSpace::partition(ArrayRef<AxisId> coordinate,
                                            ArrayRef<int64_t> sizes) {
  Coordinate digits = resolve(coordinate);
  Coordinates result(sizes.size());
  int64_t first = 0, last = static_cast<int64_t>(sizes.size()) - 1;

  // From the innermost dimension out.
  for (; last >= first && ShapedType::isStatic(sizes[last]); --last) {
    Coordinate taken;
    for (int64_t missing = sizes[last]; missing != 1;) {
      if (digits.empty() || missing == 0)
        return failure();
      AxisId digit = digits.pop_back_val();
      int64_t size = getSize(digit);
      bool isUnknown = ShapedType::isDynamic(size);
      if (!isUnknown && size != 0 && missing % size == 0) {
        taken.insert(taken.begin(), digit);
        missing /= size;
        continue;
      }
      // A digit of unknown size is a multiple of what it has to hold only where
      // nothing else could be.
      if (isUnknown ? !digits.empty() : size % missing != 0)
        return failure();
      auto [outer, inner] = split(
          digit, isUnknown ? ShapedType::kDynamic : size / missing, missing);
      digits.push_back(outer);
      taken.insert(taken.begin(), inner);
      missing = 1;
    }
    result[last] = taken;
  }
  // And from the outermost in, to the one dimension of unknown size.
  for (; first < last; ++first) {
    if (ShapedType::isDynamic(sizes[first]))
      return failure();
    Coordinate taken;
    for (int64_t missing = sizes[first]; missing != 1;) {
      if (digits.empty() || missing == 0)
        return failure();
      AxisId digit = digits.front();
      digits.erase(digits.begin());
      int64_t size = getSize(digit);
      if (ShapedType::isDynamic(size) || size == 0)
        return failure();
      if (missing % size == 0) {
        taken.push_back(digit);
        missing /= size;
        continue;
      }
      if (size % missing != 0)
        return failure();
      auto [outer, inner] = split(digit, missing, size / missing);
      digits.insert(digits.begin(), inner);
      taken.push_back(outer);
      missing = 1;
    }
    result[first] = taken;
  }
  if (first == last)
    result[first] = digits;
  else if (!digits.empty())
    return failure();
  return result;
}

void AxisSpace::insertAll(ArrayRef<Coordinate> coordinates,
                          AxisSet &set) const {
  for (const Coordinate &coordinate : coordinates)
    for (AxisId axis : resolve(coordinate))
      set.insert(axis);
}

AxisSet AxisSpace::resolveSet(const AxisSet &set) const {
  AxisSet resolved;
  for (AxisId axis : set)
    for (AxisId part : resolve(axis))
      resolved.insert(part);
  return resolved;
}
