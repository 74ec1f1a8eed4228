//===- CPUDevice.cpp - Kernels on the processor ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is an LLVM function `symbol(arguments…, extents…, begin, end)` that
// runs the linear work items [begin, end). The JIT compiles it; threads take
// ranges until none is left.
//
//===----------------------------------------------------------------------===//

#include "CPUModule.h"
#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace llvm;

namespace mlir::evoformer::runtime {

LoadedKernel::~LoadedKernel() = default;
Device::~Device() = default;

namespace {
struct CPUKernel : LoadedKernel {
  CPUKernel(const KernelInfo &info, std::shared_ptr<CPUModule> module,
            CPUEntry entry)
      : LoadedKernel(info), module(std::move(module)), entry(entry) {}

  std::shared_ptr<CPUModule> module;
  CPUEntry entry;
};

class CPUDevice : public Device {
public:
  explicit CPUDevice(unsigned numThreads)
      : pool(hardware_concurrency(numThreads)) {}
  ~CPUDevice() override {
    for (auto &[address, bytes] : buffers)
      std::free(reinterpret_cast<void *>(address));
  }

  StringRef getKind() const override { return "cpu"; }
  std::string getDescription() const override {
    return (sys::getHostCPUName() + ", " + Twine(pool.getMaxConcurrency()) +
            (pool.getMaxConcurrency() == 1 ? " thread" : " threads"))
        .str();
  }

  Expected<uint64_t> allocate(uint64_t bytes) override;
  Error release(uint64_t address) override;
  Error copyIn(uint64_t to, ArrayRef<char> from) override {
    if (!from.empty())
      std::memcpy(reinterpret_cast<void *>(to), from.data(), from.size());
    return Error::success();
  }
  Error copyOut(MutableArrayRef<char> to, uint64_t from) override {
    if (!to.empty())
      std::memcpy(to.data(), reinterpret_cast<const void *>(from), to.size());
    return Error::success();
  }
  Expected<std::unique_ptr<LoadedKernel>> load(const KernelInfo &info) override;
  Error launch(LoadedKernel &kernel, uint64_t workItems,
               ArrayRef<LaunchArgument> arguments) override;
  Error synchronize() override { return Error::success(); }
  Error startTimer() override {
    start = std::chrono::steady_clock::now();
    return Error::success();
  }
  Expected<double> stopTimer() override {
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    return elapsed.count();
  }
  Error flushCaches() override;

private:
  DefaultThreadPool pool;
  std::map<uint64_t, uint64_t> buffers;
  /// Modules that some kernel still uses, so that a module with several kernels
  /// is compiled once.
  DenseMap<const KernelObject *, std::weak_ptr<CPUModule>> modules;
  std::vector<char> flushBuffer;
  std::chrono::steady_clock::time_point start;
};
} // namespace

Expected<uint64_t> CPUDevice::allocate(uint64_t bytes) {
  constexpr uint64_t alignment = 256;
  void *memory = nullptr;
  if (bytes <= SIZE_MAX - alignment)
    memory = std::aligned_alloc(
        alignment, alignTo(std::max<uint64_t>(bytes, 1), alignment));
  if (!memory)
    return createStringError("out of memory: cannot allocate " + Twine(bytes) +
                             " bytes");
  buffers[reinterpret_cast<uint64_t>(memory)] = bytes;
  return reinterpret_cast<uint64_t>(memory);
}

Error CPUDevice::release(uint64_t address) {
  if (!buffers.erase(address))
    return createStringError("release of an address that is no buffer's");
  std::free(reinterpret_cast<void *>(address));
  return Error::success();
}

Expected<std::unique_ptr<LoadedKernel>>
CPUDevice::load(const KernelInfo &info) {
  std::shared_ptr<CPUModule> module = modules[info.object.get()].lock();
  if (!module) {
    Expected<std::shared_ptr<CPUModule>> compiled =
        CPUModule::compile(*info.object);
    if (!compiled)
      return createStringError("kernel '" + info.name +
                               "': " + toString(compiled.takeError()));
    module = std::move(*compiled);
    modules[info.object.get()] = module;
  }
  Expected<CPUEntry> entry =
      module->lookup(info.symbol, info.argumentBytes.size());
  if (!entry)
    return createStringError("kernel '" + info.name +
                             "': " + toString(entry.takeError()));
  return std::make_unique<CPUKernel>(info, std::move(module), *entry);
}

Error CPUDevice::launch(LoadedKernel &kernel, uint64_t workItems,
                        ArrayRef<LaunchArgument> arguments) {
  SmallVector<uint64_t, 64> slots;
  for (const LaunchArgument &argument : arguments)
    slots.push_back(argument.bits);
  CPUEntry entry = static_cast<CPUKernel &>(kernel).entry;

  // A few ranges for each thread even out unequal work items.
  uint64_t numThreads = pool.getMaxConcurrency();
  uint64_t step = std::max<uint64_t>(1, workItems / (8 * numThreads));
  std::atomic<uint64_t> next{0};
  auto work = [&] {
    for (;;) {
      uint64_t begin = next.fetch_add(step, std::memory_order_relaxed);
      if (begin >= workItems)
        return;
      entry(slots.data(), begin, std::min(begin + step, workItems));
    }
  };
  if (numThreads == 1 || workItems == 1) {
    work();
    return Error::success();
  }
  for (uint64_t i = 0; i < numThreads; ++i)
    pool.async(work);
  pool.wait();
  return Error::success();
}

Error CPUDevice::flushCaches() {
  // Larger than the last-level caches of common processors' cores.
  constexpr size_t flushBytes = size_t(128) << 20;
  flushBuffer.resize(flushBytes);
  for (size_t i = 0; i < flushBytes; i += 64)
    ++flushBuffer[i];
  return Error::success();
}

Expected<std::unique_ptr<Device>> createCPUDevice(unsigned numThreads) {
  return std::make_unique<CPUDevice>(numThreads);
}

} // namespace mlir::evoformer::runtime
