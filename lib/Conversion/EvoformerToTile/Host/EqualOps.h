//===- EqualOps.h - Equal attentions are converted once --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op becomes follows from its attributes and its operands' types. A
// model has the same attention in every block: the host program of the first is
// copied for the others, with their operands, and launches the same kernels.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_EQUALOPS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_EQUALOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::evoformer {

class EqualOps {
public:
  /// Equal for ops, in the order of their block, that together become the same.
  static Attribute getKey(ArrayRef<Operation *> ops);

  /// Copies before the last op what ops of this key became; false: there were
  /// none.
  bool copyFor(ArrayRef<Operation *> ops, Attribute key) const;

  /// What stands between `before` (null: the start of the block) and the last
  /// op is what they become.
  void remember(ArrayRef<Operation *> ops, Attribute key, Operation *before);

  void clear() { programs.clear(); }

private:
  struct Program {
    SmallVector<Operation *> ops;
    SmallVector<Value> operands;
  };

  llvm::DenseMap<Attribute, Program> programs;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_EQUALOPS_H
