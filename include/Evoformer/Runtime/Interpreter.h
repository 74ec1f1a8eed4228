//===- Interpreter.h - Running a launch plan's program ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_INTERPRETER_H
#define EVOFORMER_RUNTIME_INTERPRETER_H

#include "Evoformer/Runtime/Plan.h"
#include "Evoformer/Runtime/Workspace.h"
#include "llvm/ADT/FunctionExtras.h"

namespace mlir::evoformer::runtime {

/// MLIR's memref descriptor; offset, sizes and strides count elements.
struct MemRefDescriptor {
  uint64_t allocated = 0, aligned = 0;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 6> sizes, strides;
};

/// A value of a host program: an integer sign-extended to 64 bits, a float's
/// bits, or a memref.
struct HostValue {
  int64_t bits = 0;
  MemRefDescriptor memref;
};

/// What happens at a launch. The space is not empty.
using LaunchHandler = llvm::unique_function<llvm::Error(
    unsigned kernel, uint64_t workItems,
    llvm::ArrayRef<LaunchArgument> arguments)>;

/// Runs `function`: arguments are checked against its signature, an assertion
/// that does not hold is an error with its message. Returns its results.
llvm::Expected<std::vector<HostValue>>
interpret(const Plan &plan, const PlanFunction &function,
          llvm::ArrayRef<HostValue> arguments, Workspace &workspace,
          LaunchHandler launch);

/// Bytes of workspace that a run with these arguments takes. Launches nothing
/// and reads no memory.
llvm::Expected<uint64_t> queryWorkspace(const Plan &plan,
                                        const PlanFunction &function,
                                        llvm::ArrayRef<HostValue> arguments,
                                        uint64_t guardBytes = 0);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_INTERPRETER_H
