//===- SimDevice.h - Launch plans in the simulator --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_SIMDEVICE_H
#define EVOFORMER_DRIVER_SIMDEVICE_H

#include "Evoformer/Runtime/Device.h"

namespace mlir::evoformer {

struct SimDeviceOptions {
  /// Order in which subgroups run; see sim::Launch.
  uint64_t seed = 0;
  /// Asynchronous copies land at once instead of as late as waits allow.
  bool landAtIssue = false;
  unsigned threads = 0;
};

/// Runs kernels in `mlir` form. A launch with findings is an error that lists
/// them.
std::unique_ptr<runtime::Device>
createSimDevice(const SimDeviceOptions &options = {});

/// A device by its kind: `cpu`, `cuda`, `hip`, `sim`.
struct DeviceOptions {
  std::string kind = "cpu";
  int ordinal = 0;
  unsigned threads = 0;
  std::string driverLibrary;
  uint64_t seed = 0;
  bool landAtIssue = false;
};
llvm::Expected<std::unique_ptr<runtime::Device>>
createDevice(const DeviceOptions &options);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_SIMDEVICE_H
