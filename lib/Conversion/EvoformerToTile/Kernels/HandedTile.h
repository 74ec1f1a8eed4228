//===- HandedTile.h - What subgroups leave for each other -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_HANDEDTILE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_HANDEDTILE_H

#include "TileBuilder.h"

namespace mlir::evoformer {

/// A tile in workgroup memory, to which steps store their parts, and which is
/// then taken as a whole.
class HandedTile {
public:
  HandedTile(TileBuilder &builder, ArrayRef<int64_t> shape, Type element);

  /// Before the first part: nobody reads what was stored before.
  void begin(TileBuilder &b) const;
  /// Stores a part, which lies at `offset` of the last dimension.
  void store(TileBuilder &b, Value part, Value offset) const;
  /// The tile, all parts of which are stored.
  Value take(TileBuilder &b) const;

private:
  Value memory;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_HANDEDTILE_H
