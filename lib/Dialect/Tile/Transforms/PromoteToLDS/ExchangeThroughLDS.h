//===- ExchangeThroughLDS.h - What lanes cannot exchange --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_EXCHANGETHROUGHLDS_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_EXCHANGETHROUGHLDS_H

#include "LDSPlan.h"

namespace mlir::evoformer::tile {

/// Rewrites what needs elements of other subgroups. A conversion between
/// layouts whose elements lie in other subgroups becomes a store to a buffer in
/// workgroup memory, a barrier and a load. A reduction over a dimension that is
/// spread over subgroups first brings that dimension into each one's registers.
LogicalResult exchangeThroughLDS(KernelOp kernel, TargetAttr target);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_EXCHANGETHROUGHLDS_H
