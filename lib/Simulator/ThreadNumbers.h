//===- ThreadNumbers.h - What is made of a thread's number ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_THREADNUMBERS_H
#define EVOFORMER_LIB_SIMULATOR_THREADNUMBERS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/BitVector.h"
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
  /// these integers that anything else reads as they are, in every thread. Of
  /// those that tell a shuffle which lane to read, it is enough if each thread
  /// that uses what it reads has it from the same lane, or if all lanes have
  /// the same.
  bool isEqual(Operation *op, Value broken);

  /// Whether each thread that uses what a shuffle gives it has the same itself.
  bool isNeedless(NVVM::ShflOp shuffle);

private:
  /// One a thread; none where it is undefined.
  using Numbers = std::vector<std::optional<APInt>>;
  using Changes = llvm::DenseMap<Value, Numbers>;

  bool isMade(Value value) const;
  std::optional<APInt> evaluate(Operation *op, unsigned thread,
                                ArrayRef<std::optional<APInt>> operands) const;
  /// Of an op, with the operands that `changed` has instead of theirs.
  Numbers evaluate(Operation *op, const Changes &changed);
  const Numbers &get(Value value);

  /// The thread that each thread reads, or none where that is not known.
  std::vector<std::optional<unsigned>> getSources(NVVM::ShflOp shuffle,
                                                  const Changes &changed);
  /// Whether a shuffle that reads these threads instead gives the same to those
  /// who use it.
  bool givesTheSame(NVVM::ShflOp shuffle,
                    ArrayRef<std::optional<unsigned>> sources);
  /// The threads for which anything may depend on a value, as far as choices,
  /// branches and shuffles tell.
  const llvm::BitVector &findReaders(Value value);
  llvm::BitVector findReadersThrough(OpOperand &use);
  /// The threads that may come to a block, as far as branches tell.
  llvm::BitVector findVisitors(Block *block);
  /// Takes away the threads for which a condition is known not to be `holds`.
  void dropThreads(Value condition, bool holds, llvm::BitVector &of);
  /// Whether all lanes of a subgroup have the same: what is made of the
  /// kernel's arguments, of the workgroup's number and of such numbers.
  bool isUniform(Value value);

  unsigned threads = 0, lanes = 0;
  /// Those that are such integers, in program order.
  std::vector<Operation *> made;
  llvm::DenseSet<Operation *> isMadeHere;
  Changes known;
  llvm::DenseMap<Value, llvm::BitVector> readers;
  llvm::DenseMap<Block *, llvm::BitVector> visitors;
  llvm::DenseMap<Value, bool> uniform;
};

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_THREADNUMBERS_H
