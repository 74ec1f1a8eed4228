//===- SimDevice.h - Launch plans in the simulator --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_SIMDEVICE_H
#define EVOFORMER_DRIVER_SIMDEVICE_H

#include "Evoformer/Runtime/HostMemoryDevice.h"
#include "Evoformer/Simulator/Simulator.h"
#include <functional>
#include <map>

namespace mlir::evoformer {

struct SimDeviceOptions {
  /// These as in sim::Launch.
  uint64_t seed = 0;
  sim::CopyLanding landing = sim::CopyLanding::BySeed;
  unsigned threads = 0;
  uint64_t maxBlocksPerSubgroup = uint64_t(1) << 32;
  unsigned bankConflictDegree = 0;
  bool findNonFinite = false;
};

/// A kernel that was launched, and what all its launches executed.
struct SimKernelRecord {
  std::string name;
  std::shared_ptr<const sim::Simulator> module;
  uint64_t launches = 0;
  unsigned subgroupSize = 0;
  sim::Counters counters;
  /// Of this machine.
  double seconds = 0;
  uint64_t longestSubgroup = 0;
};

/// Runs plans whose kernels are MLIR (`CompileOptions::device` `sim`). A launch
/// with a finding fails.
class SimDevice final : public runtime::HostMemoryDevice {
public:
  explicit SimDevice(const SimDeviceOptions &options = {})
      : HostMemoryDevice(sim::bufferMargin), options(options) {}

  llvm::StringRef getKind() const override { return "sim"; }
  std::string getDescription() const override;
  llvm::Error release(uint64_t address) override;
  void divide(uint64_t address,
              llvm::ArrayRef<runtime::MemoryRange> parts) override;
  llvm::Expected<std::unique_ptr<runtime::LoadedKernel>>
  load(const runtime::KernelInfo &info) override;
  llvm::Error launch(runtime::LoadedKernel &kernel, uint64_t workItems,
                     llvm::ArrayRef<runtime::LaunchArgument> args) override;
  /// The module with a kernel of a plan.
  llvm::Expected<std::shared_ptr<sim::Simulator>>
  getModule(const runtime::KernelInfo &info);
  // The simulator has none.
  llvm::Error flushCaches() override { return llvm::Error::success(); }

  /// May change between launches.
  SimDeviceOptions options;
  /// The kernels launched so far, in order of their first launch.
  std::vector<SimKernelRecord> records;
  /// Whether a launch failed because of findings.
  bool hadFindings = false;
  /// Modules whose kernels run instead of those of another: broken ones.
  std::map<const sim::Simulator *, std::shared_ptr<sim::Simulator>> replaced;
  /// Called before each launch of a module, without a result, and after it.
  std::function<void(const sim::Simulator &, const sim::Launch &,
                     const sim::LaunchResult *)>
      observer;

private:
  SimKernelRecord &getRecord(const runtime::KernelInfo &info,
                             std::shared_ptr<sim::Simulator> module);

  std::map<const runtime::KernelObject *, std::weak_ptr<sim::Simulator>>
      modules;
  /// Buffers that kernels see as several, by address.
  std::map<uint64_t, llvm::SmallVector<runtime::MemoryRange>> divided;
};

struct DeviceOptions {
  std::string kind = "cpu";
  int ordinal = 0;
  unsigned threads = 0;
  std::string driverLibrary;
  SimDeviceOptions simulation;
};
llvm::Expected<std::unique_ptr<runtime::Device>>
createDevice(const DeviceOptions &options);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_SIMDEVICE_H
