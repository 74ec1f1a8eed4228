//===- KernelStore.h - Kernels that many programs share ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_TUNING_KERNELSTORE_H
#define EVOFORMER_LIB_TUNING_KERNELSTORE_H

#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Runtime/Device.h"
#include "llvm/Support/Error.h"
#include <map>

namespace mlir::evoformer {

/// A kernel over tiles as text, the same whatever program it is of.
using KernelText = std::string;

/// The texts of some of a program's kernels; `tiles` is an object of the format
/// kTilesFormat.
llvm::Expected<std::vector<KernelText>>
getKernelTexts(MLIRContext &context, StringRef tiles,
               ArrayRef<std::string> symbols);

/// Compiles each kernel once. Programs of two schedules differ in one or two.
class KernelStore {
public:
  /// `device` may be null.
  KernelStore(const CompileOptions &options, unsigned threads,
              runtime::Device *device)
      : options(options), threads(threads), device(device) {}

  /// Compiles those of the kernels that are not; what does not compile says so
  /// in `get`.
  void compile(ArrayRef<KernelText> texts);
  bool has(const KernelText &text) const { return kernels.count(text) != 0; }
  /// Lives as long as the store.
  llvm::Expected<const runtime::KernelInfo *> get(const KernelText &text) const;

private:
  struct Kernel {
    runtime::KernelInfo info;
    std::string problem;
  };
  llvm::Error compileTogether(ArrayRef<KernelText> texts);

  const CompileOptions &options;
  unsigned threads;
  runtime::Device *device;
  std::map<KernelText, Kernel> kernels;
  size_t numNamed = 0;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_TUNING_KERNELSTORE_H
