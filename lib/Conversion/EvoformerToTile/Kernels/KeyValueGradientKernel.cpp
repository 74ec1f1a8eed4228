//===- KeyValueGradientKernel.cpp - The gradients of key and value --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"
#include "KeyBlock.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

void evoformer::writeKeyValueGradient(TileBuilder &builder,
                                      const LogitRecompute &shared) {
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, shared.operands.query,
                     shared.operands.key, shared.blocks, /*ownsKeyBlock=*/true);
  KeyBlock(shared, item, /*keysFirst=*/true).write();
}
