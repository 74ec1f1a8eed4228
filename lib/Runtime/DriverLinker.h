//===- DriverLinker.h - PTX to machine code by CUDA's driver --*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver compiles one module at a time where it loads PTX, but links, which
// compile, too, as many as there are threads: seven kernels of a backward pass
// took 0.98 s the one way and 0.28 s the other on an H200 with 16 cores.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_DRIVERLINKER_H
#define EVOFORMER_LIB_RUNTIME_DRIVERLINKER_H

#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/DynamicLibrary.h"
#include <mutex>

namespace mlir::evoformer::runtime {

/// Used by several threads.
class DriverLinker {
public:
  /// `isFor`: what else than PTX decides what comes out.
  DriverLinker(llvm::sys::DynamicLibrary driver, std::string isFor,
               std::unique_ptr<CodeStore> store);

  /// Links ahead of `get`. The context must be current in this thread.
  void prepare(llvm::StringRef ptx);

  /// The machine code, linked now if it is not there; none where the driver
  /// does not link or does not take the PTX: loading that says why. A second
  /// `get` links again.
  std::optional<std::string> get(llvm::StringRef ptx);

  /// Forgets stored code that does not load.
  std::optional<std::string> getAnew(llvm::StringRef ptx) { return link(ptx); }

private:
  std::optional<std::string> link(llvm::StringRef ptx);
  std::string getKey(llvm::StringRef ptx) const;

  using Handle = void *;
  int (*create)(unsigned, int *, void **, Handle *) = nullptr;
  int (*addData)(Handle, int, void *, size_t, const char *, unsigned, int *,
                 void **) = nullptr;
  int (*complete)(Handle, void **, size_t *) = nullptr;
  int (*destroy)(Handle) = nullptr;

  std::string isFor;
  std::unique_ptr<CodeStore> store;
  std::mutex mutex;
  /// By their PTX, until they are taken.
  llvm::StringMap<std::string> prepared;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_DRIVERLINKER_H
