//===- LayoutPropagation.h - Spreading layouts ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTPROPAGATION_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTPROPAGATION_H

#include "MmaLayouts.h"

#include <deque>

namespace mlir::evoformer::tile {

/// The layout of each tile value of a kernel, spread from anchors through the
/// ops that tie the layouts of their values together.
class LayoutPropagation {
public:
  explicit LayoutPropagation(KernelOp kernel) : kernel(kernel) {}

  /// Sets the layout of a value that has none yet, and of all that follows
  /// from it.
  void seed(Value value, Attribute layout);
  /// The same of tiles that are reduced to ones with a layout, which say less
  /// than what makes the tile.
  void seedReduced();
  Attribute lookup(Value value) const { return layouts.lookup(value); }

private:
  void set(Value value, Attribute layout);
  void spread(Value value);
  void spreadToOp(Operation *op, Value value, Attribute layout);
  void tie(Value other, Attribute layout) { set(other, layout); }

  KernelOp kernel;
  DenseMap<Value, Attribute> layouts;
  std::deque<Value> worklist;
  /// Sources of reductions, with what their results would have them be.
  SmallVector<std::pair<Value, Attribute>> reduced;
};

/// The layout of a transposed tile.
Attribute permuteLayout(Attribute layout, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> permutation);

/// The values that a loop or branch carries as one: for a result, a region
/// argument, an initial value or a yielded value, all of that group.
SmallVector<Value> getCarriedGroup(Operation *op, Value value);

/// Rows over lanes: what a kernel without products starts from.
Attribute getDefaultLayout(RankedTensorType type, TargetAttr target,
                           ScheduleAttr schedule);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTPROPAGATION_H
