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
#include "Evoformer/Runtime/HostMemoryDevice.h"
#include "LoadModules.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>

using namespace llvm;

namespace mlir::evoformer::runtime {

namespace {
struct CPUKernel : LoadedKernel {
  CPUKernel(const KernelInfo &info, std::shared_ptr<CPUModule> module,
            CPUEntry entry)
      : LoadedKernel(info), module(std::move(module)), entry(entry) {}

  std::shared_ptr<CPUModule> module;
  CPUEntry entry;
};

class CPUDevice : public HostMemoryDevice {
public:
  CPUDevice(unsigned numThreads, std::unique_ptr<CodeStore> store)
      : store(std::move(store)), pool(hardware_concurrency(numThreads)) {}

  StringRef getKind() const override { return "cpu"; }
  std::string getDescription() const override {
    return (sys::getHostCPUName() + ", " + Twine(pool.getMaxConcurrency()) +
            (pool.getMaxConcurrency() == 1 ? " thread" : " threads"))
        .str();
  }

  Expected<std::unique_ptr<LoadedKernel>> load(const KernelInfo &info) override;
  Error launch(LoadedKernel &kernel, uint64_t workItems,
               ArrayRef<LaunchArgument> arguments) override;
  Error flushCaches() override;

private:
  std::unique_ptr<CodeStore> store;
  DefaultThreadPool pool;
  ModuleMap<CPUModule> modules;
  std::vector<char> flushBuffer;
};
} // namespace

Expected<std::unique_ptr<LoadedKernel>>
CPUDevice::load(const KernelInfo &info) {
  // Several kernels come one after another, too (Device::loadAll): JITs at work
  // at the same time are under suspicion of a rare crash.
  auto kept = loadModules({&info}, 1, modules, [&](const KernelInfo &info) {
    return CPUModule::compile(*info.object, store.get());
  });
  if (!kept)
    return kept.takeError();
  std::shared_ptr<CPUModule> module = kept->front();
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

Expected<std::unique_ptr<Device>>
createCPUDevice(unsigned numThreads, std::unique_ptr<CodeStore> store) {
  return std::make_unique<CPUDevice>(numThreads, std::move(store));
}

} // namespace mlir::evoformer::runtime
