//===- VectorLoops.h - linalg on static buffers as vector loops -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function replaces one op by loops over vectors, or fails and leaves the
// op alone where it is of another form; scalar loops serve those.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOCPU_VECTORLOOPS_H
#define EVOFORMER_LIB_CONVERSION_TILETOCPU_VECTORLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::evoformer::tile_to_cpu {

/// The registers that code is written for. Other processors run it too, at
/// another speed.
struct VectorTarget {
  int64_t bits;

  /// Elements of a vector that fills a register; those of 32 bits count for
  /// narrower types, which are widened to be computed on.
  int64_t getLanes(Type element) const {
    bool wide = element.isIndex() || element.getIntOrFloatBitWidth() == 64;
    return bits / (wide ? 64 : 32);
  }
  /// Rows of a matrix product's block: with two vectors a row the sums, the
  /// row of the right operand and one broadcast fit the registers.
  int64_t getBlockRows() const { return bits >= 512 ? 8 : 6; }
};

/// Elementwise work and reductions.
LogicalResult vectorizeGeneric(RewriterBase &rewriter, linalg::GenericOp op,
                               VectorTarget target);

/// A copy that permutes dimensions, the last one included.
LogicalResult vectorizeTranspose(RewriterBase &rewriter, linalg::GenericOp op,
                                 VectorTarget target);

/// [batch.., M, K] * [batch.., K, N] added to [batch.., M, N].
LogicalResult vectorizeContract(RewriterBase &rewriter, linalg::ContractOp op,
                                VectorTarget target);

/// True where vectors of the memref's elements can be loaded along its last
/// dimension.
bool isVectorMemory(Type type);

/// How [0, size) is cut: `main` in steps of `step`, then the widths of `tail`.
struct Strips {
  int64_t main = 0;
  int64_t step = 1;
  SmallVector<int64_t> tail;

  Strips(int64_t size, int64_t step) : main(size - size % step), step(step) {
    if (size % step)
      tail.push_back(size % step);
  }
};

/// Calls `body` with the start and the width of each strip, in a loop for
/// those of full width.
void emitStrips(OpBuilder &b, Location loc, const Strips &strips,
                function_ref<void(OpBuilder &, Value, int64_t)> body);

} // namespace mlir::evoformer::tile_to_cpu

#endif // EVOFORMER_LIB_CONVERSION_TILETOCPU_VECTORLOOPS_H
