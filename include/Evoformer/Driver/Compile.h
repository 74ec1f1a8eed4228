//===- Compile.h - From a module to a launch plan ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_COMPILE_H
#define EVOFORMER_DRIVER_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::evoformer {

struct CompileOptions {
  /// A chip: `cpu`, `gfx942`, …
  std::string target = "cpu";
  /// What the plan shall run on; decides the form of the code: `cpu`, `cuda`,
  /// `hip` or `sim`. On `cpu` a GPU's program runs as it is after `level`.
  std::string device = "cpu";
  /// `tiles`, `fragments`, `staged` or `pipelined`: how far to go before the
  /// kernels run on the CPU.
  std::string level = "tiles";
  /// On `cuda`: a chip to make a cubin for with ptxas; empty: PTX, which the
  /// driver compiles.
  std::string cubinChip;
  /// Forces the schedule; empty: the default.
  std::string schedule;
  /// A file of schedules by chip and shape, from which one is taken where none
  /// is forced (ScheduleTable.h).
  std::string schedules;
  /// Whether kernels that cannot have their schedules take the defaults: those
  /// of a table may have been found for a program with fewer operands.
  bool mayDropSchedule = false;
  /// The plan gets the kernels over tiles (`tiles`); `compileKernels` makes
  /// code of those that a run needs.
  bool deferKernels = false;
  /// `apart`, `with-query` or `auto`: where gradients of biases are computed.
  std::string biasGradients = "auto";
  /// The most memory that partial sums take; -1: the default.
  int64_t partialSumBytes = -1;
  /// `split` or `exact`: whether products of f32 may be made of narrower ones.
  std::string f32Products = "exact";
};

/// Whether products of f32 are made of narrower ones; not where the target is
/// unknown, which compiling it says.
bool splitsProducts(MLIRContext &context, const CompileOptions &options);

/// Compiles a module of host functions, from the level of graphs down; a module
/// of tile kernels and launches is taken as it is. Problems are diagnostics.
FailureOr<llvm::json::Value> compileToPlan(ModuleOp module,
                                           const CompileOptions &options);

/// The same from a file's or a program's text.
FailureOr<llvm::json::Value> compileToPlan(MLIRContext &context, StringRef text,
                                           StringRef name,
                                           const CompileOptions &options);

/// Everything that such a module may hold.
void registerForCompilation(DialectRegistry &registry);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_COMPILE_H
