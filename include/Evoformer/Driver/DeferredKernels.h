//===- DeferredKernels.h - Kernels compiled when needed ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run launches some of a program's kernels: the others are for operands of
// another alignment or size. Where a plan is made for one process, its kernels
// stay at the level of tiles, and those that a run needs are compiled then,
// each by a thread of its own.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_DEFERREDKERNELS_H
#define EVOFORMER_DRIVER_DEFERREDKERNELS_H

#include "Evoformer/Conversion/HostToPlan/HostToPlan.h"
#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Runtime/Device.h"
#include "llvm/Support/Error.h"

namespace mlir::evoformer {

/// The format of a plan's object that holds kernels over tiles.
inline constexpr llvm::StringLiteral kTilesFormat = "tiles";

/// The module's kernels over tiles as one object of that format. Kernels that
/// differ in nothing but their name share a symbol.
PlanCode deferKernels(ModuleOp module);

/// The code of one kernel.
struct KernelCode {
  PlanObject object;
  PlanKernel kernel;
};

/// As devices load it; named by its symbol.
runtime::KernelInfo makeKernelInfo(KernelCode code);

/// Takes the format and contents of code, in any thread.
using CodeTaker = llvm::function_ref<void(StringRef, StringRef)>;

/// Compiles kernels of such an object on up to `numThreads` threads (0: one a
/// core); the result is in the order of `symbols`. An error is what the
/// compiler has to say. To be called by one thread at a time. `prepare` gets
/// PTX as soon as it is there, in the thread that compiled it.
llvm::Expected<std::vector<KernelCode>>
compileKernels(StringRef tiles, ArrayRef<std::string> symbols,
               const CompileOptions &options, unsigned numThreads,
               CodeTaker prepare);

/// The same as devices load them.
llvm::Expected<std::vector<runtime::KernelInfo>>
compileKernelInfos(StringRef tiles, ArrayRef<std::string> symbols,
                   const CompileOptions &options, unsigned numThreads,
                   CodeTaker prepare);

/// While it lives, keeps a context's errors as text for people.
class ErrorText {
public:
  explicit ErrorText(MLIRContext *context);
  /// What there was, or `otherwise`.
  llvm::Error take(StringRef otherwise);

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_DEFERREDKERNELS_H
