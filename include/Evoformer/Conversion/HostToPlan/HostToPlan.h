//===- HostToPlan.h - From host functions to a launch plan ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch plan is the host function itself, op by op, as JSON
// (docs/launch-plan.md). It is derived at the level of tiles, where the host
// functions have their final form; the kernels' code comes beside it.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_HOSTTOPLAN_HOSTTOPLAN_H
#define EVOFORMER_CONVERSION_HOSTTOPLAN_HOSTTOPLAN_H

#include "Evoformer/Runtime/TensorMap.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::evoformer {

/// Code of one or more kernels.
struct PlanObject {
  /// `llvm`, `ptx`, `cubin`, `hsaco` or `mlir` (for the simulator).
  std::string format;
  /// The chip: `cpu`, `sm_80`, …
  std::string target;
  /// Text or bytes; stored in the plan itself unless `file` is given.
  std::string contents;
  /// A file that holds the contents, relative to the plan's.
  std::string file;
};

/// How a kernel is found in the objects and launched.
struct PlanKernel {
  std::string name;
  std::string symbol;
  /// Index into the objects.
  size_t object = 0;
  /// Dynamic workgroup memory.
  int64_t ldsBytes = 0;
  /// Threads of a workgroup; 1 on the CPU.
  int64_t threads = 1;
  /// See runtime::KernelInfo.
  bool startsEarly = false;
  /// The tensor maps that it takes behind what launches pass.
  std::vector<runtime::TensorMapArgument> tensorMaps;
  llvm::json::Value report = nullptr;
};

struct PlanCode {
  SmallVector<PlanObject> objects;
  SmallVector<PlanKernel> kernels;
};

/// Writes the public functions of `module` and the code. An op that a launch
/// plan cannot hold, or a launch of a kernel that `code` lacks, is an error at
/// that op.
FailureOr<llvm::json::Value> emitLaunchPlan(ModuleOp module,
                                            const PlanCode &code);

} // namespace mlir::evoformer

#endif // EVOFORMER_CONVERSION_HOSTTOPLAN_HOSTTOPLAN_H
