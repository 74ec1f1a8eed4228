//===- ThreadNumbers.h - What is made of a thread's number ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_THREADNUMBERS_H
#define EVOFORMER_LIB_SIMULATOR_THREADNUMBERS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::evoformer::sim {

/// The integers of a kernel that are made of constants and the thread's number
/// in its workgroup, and of nothing else: no operand, no workgroup, no memory
/// and no loop. Of a workgroup of a known size each has a finite list of
/// values, one a thread, which is all that the kernel ever sees of it.
class ThreadNumbers {
public:
  /// None, if the size of the function's workgroups is not known.
  explicit ThreadNumbers(LLVM::LLVMFuncOp function);

  bool has(Operation *op) const { return isMadeHere.contains(op); }

  /// Whether `broken`, a value in the place of what `op` makes, leaves all of
  /// these integers that anything else reads as they are, in every thread.
  bool isEqual(Operation *op, Value broken);

private:
  /// One a thread; none where it is undefined.
  using Numbers = std::vector<std::optional<APInt>>;

  bool isMade(Value value) const;
  std::optional<APInt> evaluate(Operation *op, unsigned thread,
                                ArrayRef<std::optional<APInt>> operands) const;
  /// Of an op, with the operands that `changed` has instead of theirs.
  Numbers evaluate(Operation *op,
                   const llvm::DenseMap<Value, Numbers> &changed);
  const Numbers &get(Value value);

  unsigned threads = 0, lanes = 0;
  /// Those that are such integers, in program order.
  std::vector<Operation *> made;
  llvm::DenseSet<Operation *> isMadeHere;
  llvm::DenseMap<Value, Numbers> known;
};

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_THREADNUMBERS_H
