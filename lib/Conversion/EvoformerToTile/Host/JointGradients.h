//===- JointGradients.h - Steps that share a recomputation ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_JOINTGRADIENTS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_JOINTGRADIENTS_H

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

namespace mlir::evoformer {

/// Whether two steps have the same operands, in the same orders, for a role.
bool readSame(AttentionGradientOp a, AttentionGradientOp b,
              AttentionOperand role);

/// `first` and the steps behind it that recompute the same logits and that one
/// kernel can do with it: those of key and value and others, at most one of
/// them that of a bias that is summed, in the order of the block. Only `first`
/// where there is nothing to share.
SmallVector<AttentionGradientOp> findJointGradients(AttentionGradientOp first);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_JOINTGRADIENTS_H
