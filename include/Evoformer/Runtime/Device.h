//===- Device.h - What a launch plan runs on --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The abstract device: memory, kernels, launches, times. Addresses are 64-bit
// numbers in the device's own address space.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_DEVICE_H
#define EVOFORMER_RUNTIME_DEVICE_H

#include "Evoformer/Runtime/TensorMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::evoformer::runtime {

/// Machine code (or what a driver compiles to it) of one or more kernels.
struct KernelObject {
  /// `llvm` (IR as bitcode or text), `ptx`, `cubin`, `hsaco`, or `mlir` (the
  /// module after the final conversion, for the simulator).
  std::string format;
  /// The chip it is for: `cpu`, `sm_80`, `gfx942`, …
  std::string target;
  std::string contents;
};

/// One kernel of a launch plan.
struct KernelInfo {
  std::string name;
  std::string symbol;
  std::shared_ptr<const KernelObject> object;
  /// Bytes of dynamic workgroup memory (LDS, shared memory).
  uint64_t ldsBytes = 0;
  /// Threads of a workgroup; 1 on the CPU.
  uint32_t threads = 1;
  /// It waits for the memory of the kernels before it, and may start before
  /// they end; a device need not know.
  bool startsEarly = false;
  /// Size in bytes of each argument of the expanded signature: memrefs as
  /// their descriptor's fields, then scalars in order, then the extents.
  llvm::SmallVector<uint8_t> argumentBytes;
  /// The tensor maps that it takes behind them.
  std::vector<TensorMapArgument> tensorMaps;
  /// What the compiler reported of the kernel; only shown.
  llvm::json::Value report = nullptr;
};

/// One argument of the expanded signature.
struct LaunchArgument {
  uint64_t bits = 0;
  uint8_t bytes = 8;
};

/// Bytes of a device's memory.
struct MemoryRange {
  uint64_t address, bytes;
};

/// The tensor maps of a launch of the kernel.
std::vector<TensorMap> makeTensorMaps(const KernelInfo &kernel,
                                      llvm::ArrayRef<LaunchArgument> arguments);

/// A kernel that a device has loaded.
class LoadedKernel {
public:
  explicit LoadedKernel(const KernelInfo &info) : info(info) {}
  virtual ~LoadedKernel();

  const KernelInfo &info;
};

/// Every member may fail with a message for the user. A device is used by one
/// thread at a time.
class Device {
public:
  virtual ~Device();

  /// `cpu`, `cuda`, `hip`, `sim`.
  virtual llvm::StringRef getKind() const = 0;
  /// The chip and what drives it, for people.
  virtual std::string getDescription() const = 0;

  /// The chip by its target name, `sm_90` or `gfx942`; empty where only the
  /// caller knows it.
  virtual std::string getChip() const { return ""; }

  /// Later launches go to this stream of the driver's; null: the default one.
  virtual void setStream(void *stream) {}
  /// Makes the device the current one of this thread, until `leave` brings back
  /// the one before. A new device is entered already.
  virtual llvm::Error enter();
  virtual void leave() {}

  /// Memory aligned to at least 256 bytes; `bytes` may be 0.
  virtual llvm::Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual llvm::Error release(uint64_t address) = 0;
  /// Of the allocated memory that `address` lies in, later launches use these
  /// parts and nothing between them; without parts the whole again. A device
  /// that checks accesses takes each for memory of its own.
  virtual void divide(uint64_t address, llvm::ArrayRef<MemoryRange> parts) {}
  /// The bytes between two allocations at least: what a device that checks
  /// accesses asks for between parts, too.
  virtual uint64_t getMargin() const { return 0; }
  virtual llvm::Error copyIn(uint64_t to, llvm::ArrayRef<char> from) = 0;
  /// Waits for all earlier launches.
  virtual llvm::Error copyOut(llvm::MutableArrayRef<char> to,
                              uint64_t from) = 0;

  /// `info` must outlive the result.
  virtual llvm::Expected<std::unique_ptr<LoadedKernel>>
  load(const KernelInfo &info) = 0;

  /// Several kernels, at the same time where the device can.
  virtual llvm::Expected<std::vector<std::unique_ptr<LoadedKernel>>>
  loadAll(llvm::ArrayRef<const KernelInfo *> infos);

  /// Does ahead what loading this code takes longest with. May be called from
  /// any thread, for a device that is in use.
  virtual void prepare(llvm::StringRef format, llvm::StringRef contents);

  /// Runs `workItems` > 0 work items. Launches are ordered; they may return
  /// before the kernel ends.
  virtual llvm::Error launch(LoadedKernel &kernel, uint64_t workItems,
                             llvm::ArrayRef<LaunchArgument> arguments) = 0;
  virtual llvm::Error synchronize() = 0;

  /// Milliseconds between the two calls, on the device's own clock.
  virtual llvm::Error startTimer() = 0;
  virtual llvm::Expected<double> stopTimer() = 0;

  /// Evicts what earlier runs left in the caches.
  virtual llvm::Error flushCaches() = 0;
};

/// Keeps machine code between processes. Used by several threads.
class CodeStore {
public:
  virtual ~CodeStore();
  virtual std::optional<std::string> get(llvm::StringRef key) = 0;
  virtual void put(llvm::StringRef key, llvm::StringRef code) = 0;
  /// Held by whoever makes the code of a key; other processes that want it wait
  /// in here meanwhile. Null where nothing is held.
  virtual std::shared_ptr<void> lock(llvm::StringRef key) = 0;
};

/// The processor that runs this program: kernels are compiled by LLVM's JIT, or
/// taken from `store`, and run over ranges of work items on `numThreads`
/// threads (0: one a core).
llvm::Expected<std::unique_ptr<Device>>
createCPUDevice(unsigned numThreads, std::unique_ptr<CodeStore> store = {});

/// Through libcuda, opened at run time (`library` empty: libcuda.so.1). Machine
/// code that PTX has become is taken from `store`.
llvm::Expected<std::unique_ptr<Device>>
createCUDADevice(int ordinal, llvm::StringRef library = "",
                 std::unique_ptr<CodeStore> store = {});

/// Through libamdhip64, opened at run time (`library` empty: its usual names).
llvm::Expected<std::unique_ptr<Device>>
createHIPDevice(int ordinal, llvm::StringRef library = "");

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_DEVICE_H
