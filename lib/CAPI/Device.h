//===- Device.h - What the C API calls a device -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CAPI_DEVICE_H
#define EVOFORMER_LIB_CAPI_DEVICE_H

#include "Evoformer/Runtime/Device.h"
#include "Program.h"
#include "evoformer-c/Runtime.h"
#include <map>
#include <mutex>

namespace mlir::evoformer::capi {

/// A program's kernels on a device, loaded when first needed.
struct LoadedProgram {
  explicit LoadedProgram(std::shared_ptr<ProgramData> program)
      : program(std::move(program)),
        kernels(this->program->plan.kernels.size()) {}

  /// Those that are not loaded yet.
  llvm::Error load(runtime::Device &device, llvm::ArrayRef<unsigned> numbers);

  std::shared_ptr<ProgramData> program;
  std::vector<std::unique_ptr<runtime::LoadedKernel>> kernels;
};

} // namespace mlir::evoformer::capi

/// The handle. Never destroyed: when a process ends, a driver may be gone
/// first.
struct EvoformerDevice {
  std::string kind, chip, description;
  std::unique_ptr<mlir::evoformer::runtime::Device> device;
  /// Held while the device is used, and for `programs`.
  std::mutex mutex;
  std::map<const mlir::evoformer::capi::ProgramData *,
           std::shared_ptr<mlir::evoformer::capi::LoadedProgram>>
      programs;
  /// How many forks lie behind the process that made the device.
  unsigned generation = 0;

  /// Makes the device the current one until the scope ends; to be called with
  /// the mutex held.
  llvm::Error enter();
  void leave() { device->leave(); }
};

namespace mlir::evoformer::capi {

/// Holds a device: its mutex and, where that went well, its context.
class DeviceScope {
public:
  explicit DeviceScope(EvoformerDevice &device)
      : device(device), lock(device.mutex), problem(device.enter()),
        entered(!problem) {}
  ~DeviceScope() {
    if (entered)
      device.leave();
    consumeError(std::move(problem));
  }
  llvm::Error takeError() { return std::move(problem); }

private:
  EvoformerDevice &device;
  std::lock_guard<std::mutex> lock;
  llvm::Error problem;
  bool entered;
};

} // namespace mlir::evoformer::capi

#endif // EVOFORMER_LIB_CAPI_DEVICE_H
