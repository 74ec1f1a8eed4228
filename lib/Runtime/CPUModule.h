//===- CPUModule.h - LLVM IR compiled in process ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_CPUMODULE_H
#define EVOFORMER_LIB_RUNTIME_CPUMODULE_H

#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/StringMap.h"

namespace llvm::orc {
class LLJIT;
}

namespace mlir::evoformer::runtime {

/// Runs work items [begin, end); `slots` holds one 64-bit slot an argument.
using CPUEntry = void (*)(const uint64_t *slots, uint64_t begin, uint64_t end);

/// The functions of one LLVM module, compiled for this processor.
class CPUModule {
public:
  static llvm::Expected<std::shared_ptr<CPUModule>>
  compile(const KernelObject &object, CodeStore *store);
  ~CPUModule();

  /// The entry of a kernel that takes `numArguments` besides begin and end.
  llvm::Expected<CPUEntry> lookup(llvm::StringRef symbol, size_t numArguments);

private:
  CPUModule();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  /// Parameters of each function with an entry, begin and end included.
  llvm::StringMap<size_t> numParameters;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_CPUMODULE_H
