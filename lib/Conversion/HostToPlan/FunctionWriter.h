//===- FunctionWriter.h - One host function as JSON -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_HOSTTOPLAN_FUNCTIONWRITER_H
#define EVOFORMER_LIB_CONVERSION_HOSTTOPLAN_FUNCTIONWRITER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace mlir::evoformer {

/// The sizes in bytes of each kernel's expanded arguments, by kernel.
using KernelSignatures = llvm::StringMap<SmallVector<int64_t>>;

class FunctionWriter {
public:
  explicit FunctionWriter(KernelSignatures &signatures)
      : signatures(signatures) {}

  /// The function as a member of the plan's `functions`.
  FailureOr<llvm::json::Value> write(func::FuncOp function);

private:
  FailureOr<llvm::json::Array> writeBlock(Block &block);
  LogicalResult writeOp(Operation *op, llvm::json::Object &json);
  LogicalResult writeArith(Operation *op, llvm::json::Object &json);
  LogicalResult writeAlloc(memref::AllocOp op, llvm::json::Object &json);
  LogicalResult writeSubView(memref::SubViewOp op, llvm::json::Object &json);
  LogicalResult writeLaunch(Operation *op, llvm::json::Object &json);
  LogicalResult writeIf(Operation *op, llvm::json::Object &json);
  LogicalResult writeFor(Operation *op, llvm::json::Object &json);
  LogicalResult writeResultTypes(Operation *op, llvm::json::Object &json);
  /// The type as JSON, or an error at `op`.
  FailureOr<llvm::json::Value> writeType(Operation *op, Type type);
  LogicalResult setType(Operation *op, Type type, llvm::json::Object &json,
                        StringRef key = "type");
  llvm::json::Value name(Value value);
  llvm::json::Array names(ValueRange values);
  /// Constants as numbers, values by name.
  llvm::json::Array mixed(ArrayRef<OpFoldResult> values);

  KernelSignatures &signatures;
  llvm::DenseMap<Value, unsigned> numbers;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_HOSTTOPLAN_FUNCTIONWRITER_H
