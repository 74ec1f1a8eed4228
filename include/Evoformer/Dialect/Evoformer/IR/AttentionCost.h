//===- AttentionCost.h - Work and traffic of an attention -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an attention must do at least, whatever kernel does it.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONCOST_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONCOST_H

namespace mlir::evoformer {

/// Counts are doubles: exact up to 2^53, and no size overflows them.
struct AttentionCost {
  /// B N H Sq Sk.
  double logits = 0;
  /// The two products, a multiplication and an addition each:
  /// 2 logits (D + Dv).
  double matrixFlops = 0;
  /// On every logit: the scale, an addition for each float bias, a maximum, a
  /// subtraction of it, an addition to the sum; on every element of the output
  /// a division, and a product if there is a gate:
  /// logits (4 + float biases) + B N H Sq Dv (1 + gates).
  double vectorFlops = 0;
  /// One for each logit, and one for each element of the gate.
  double exponentials = 0;
  /// Bytes of all inputs, each element read once (a broadcast dimension counts
  /// once, an i1 is a byte), also those that a range of keys leaves out.
  double bytesRead = 0;
  /// Bytes of output, lse and stats.
  double bytesWritten = 0;

  double flops() const { return matrixFlops + vectorFlops; }
  double bytes() const { return bytesRead + bytesWritten; }
  /// Flops for each byte, 0 if nothing moves.
  double intensity() const { return bytes() == 0 ? 0 : flops() / bytes(); }
};

} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONCOST_H
