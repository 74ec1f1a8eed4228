//===- Program.h - What the C API calls a program ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CAPI_PROGRAM_H
#define EVOFORMER_LIB_CAPI_PROGRAM_H

#include "Cache.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Driver/ScheduleTable.h"
#include "Evoformer/Runtime/Plan.h"
#include "evoformer-c/Compile.h"
#include <mutex>

namespace mlir::evoformer::capi {

/// What a program is compiled with.
struct CompileRequest {
  CompileOptions options;
  /// What a table of schedules is asked for.
  std::optional<ProblemShape> shape;
  std::string cacheFolder = DiskCache::getDefaultFolder();

  /// Everything that the result depends on besides the input.
  std::string getKey(llvm::ArrayRef<llvm::StringRef> input) const;
};

/// Held while something is compiled: LLVM's and lld's flags are global.
std::mutex &getCompilerMutex();

/// $EVOFORMER_NUM_THREADS, or 0 for one a core.
unsigned getNumThreads();

/// A compiled program, shared by handles, calls, devices and the cache in
/// memory.
class ProgramData {
public:
  static llvm::Expected<std::shared_ptr<ProgramData>>
  create(std::string planText, CompileRequest request);

  const std::string planText;
  const runtime::Plan plan;

  /// Kernels of the plan with code that devices load, in the order of their
  /// numbers. Those that the plan has over tiles are compiled, or taken from
  /// the cache on disk, once; `prepare` gets those that are compiled.
  llvm::Expected<std::vector<const runtime::KernelInfo *>>
  getCode(llvm::ArrayRef<unsigned> numbers, CodeTaker prepare);

private:
  ProgramData(std::string planText, runtime::Plan plan, CompileRequest request)
      : planText(std::move(planText)), plan(std::move(plan)),
        request(std::move(request)), code(this->plan.kernels.size()) {}
  llvm::Error compile(llvm::ArrayRef<unsigned> numbers, CodeTaker prepare);
  bool isDeferred(unsigned number) const;
  /// The kernel with the code of what it shares a symbol with.
  void setCode(unsigned number, const runtime::KernelInfo &compiled);

  const CompileRequest request;
  std::mutex mutex;
  std::vector<std::unique_ptr<runtime::KernelInfo>> code;
};

} // namespace mlir::evoformer::capi

/// The handle.
struct EvoformerProgram {
  std::shared_ptr<mlir::evoformer::capi::ProgramData> data;
  const char *origin;
};

#endif // EVOFORMER_LIB_CAPI_PROGRAM_H
