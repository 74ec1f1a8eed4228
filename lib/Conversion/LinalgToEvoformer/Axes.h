//===- Axes.h - What dimensions are made of ------------------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every loop and every dimension is a list of digits, outermost first. Reshapes
// only regroup them: where tensors disagree on how a dimension is cut, a digit
// is split for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_AXES_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_AXES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::evoformer::raising {

using AxisId = unsigned;

/// The index of one dimension in mixed radix, most significant digit first.
/// Empty: the dimension has size 1.
using Coordinate = SmallVector<AxisId, 2>;

/// Where a tensor is read, a coordinate for each dimension.
using Coordinates = SmallVector<Coordinate, 5>;

using AxisSet = llvm::SmallSet<AxisId, 8>;

/// The axes of one attempt at recognising a program.
class AxisSpace {
public:
  /// A loop of `size` iterations: a new axis, or none where that is 1.
  Coordinate createLoop(int64_t size);

  /// Splits of axes applied: the digits as they are now.
  Coordinate resolve(ArrayRef<AxisId> coordinate) const;
  Coordinates resolveAll(ArrayRef<Coordinate> coordinates) const;

  /// ShapedType::kDynamic where the size is not known.
  int64_t getSize(AxisId axis) const { return axes[axis].size; }

  /// Records that a dimension indexed by `coordinate` has this size, which may
  /// tell that of an axis whose size was unknown.
  void learnSize(ArrayRef<AxisId> coordinate, int64_t size);

  /// Regroups the digits of one dimension into those of several whose sizes
  /// multiply to its own. Fails where sizes do not tell how.
  FailureOr<Coordinates> partition(ArrayRef<AxisId> coordinate,
                                   ArrayRef<int64_t> sizes);

  void insertAll(ArrayRef<Coordinate> coordinates, AxisSet &set) const;
  /// Splits since a set was made applied.
  AxisSet resolveSet(const AxisSet &set) const;

private:
  struct Axis {
    int64_t size;
    /// What it has been split into.
    Coordinate parts = {};
  };

  AxisId add(int64_t size);
  /// Splits into an outer and an inner part.
  std::pair<AxisId, AxisId> split(AxisId axis, int64_t outerSize,
                                  int64_t innerSize);

  SmallVector<Axis> axes;
};

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_AXES_H
