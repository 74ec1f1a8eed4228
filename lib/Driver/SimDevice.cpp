//===- SimDevice.cpp - Launch plans in the simulator ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/SimDevice.h"
#include "Evoformer/Simulator/Simulator.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct SimKernel : LoadedKernel {
  SimKernel(const KernelInfo &info, std::shared_ptr<sim::Simulator> simulator)
      : LoadedKernel(info), simulator(std::move(simulator)) {}
  std::shared_ptr<sim::Simulator> simulator;
};

class SimDevice : public Device {
public:
  explicit SimDevice(const SimDeviceOptions &options) : options(options) {}
  ~SimDevice() override {
    for (auto &[address, bytes] : buffers)
      std::free(reinterpret_cast<void *>(address));
  }

  StringRef getKind() const override { return "sim"; }
  std::string getDescription() const override {
    return "simulator, seed " + std::to_string(options.seed);
  }
  Expected<uint64_t> allocate(uint64_t bytes) override {
    void *memory = nullptr;
    if (bytes < uint64_t(1) << 60)
      memory = std::aligned_alloc(
          256, llvm::alignTo(std::max<uint64_t>(bytes, 1), 256));
    if (!memory)
      return createStringError("out of memory: cannot allocate " +
                               Twine(bytes) + " bytes");
    buffers[reinterpret_cast<uint64_t>(memory)] = bytes;
    return reinterpret_cast<uint64_t>(memory);
  }
  Error release(uint64_t address) override {
    if (!buffers.erase(address))
      return createStringError("release of an address that is no buffer's");
    std::free(reinterpret_cast<void *>(address));
    return Error::success();
  }
  Error copyIn(uint64_t to, ArrayRef<char> from) override {
    if (!from.empty())
      std::memcpy(reinterpret_cast<void *>(to), from.data(), from.size());
    return Error::success();
  }
  Error copyOut(llvm::MutableArrayRef<char> to, uint64_t from) override {
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
  // The simulator has none.
  Error flushCaches() override { return Error::success(); }

private:
  SimDeviceOptions options;
  std::map<uint64_t, uint64_t> buffers;
  llvm::DenseMap<const KernelObject *, std::weak_ptr<sim::Simulator>> modules;
  std::chrono::steady_clock::time_point start;
};
} // namespace

Expected<std::unique_ptr<LoadedKernel>>
SimDevice::load(const KernelInfo &info) {
  if (info.object->format != "mlir")
    return createStringError("kernel '" + info.name +
                             "': the simulator runs MLIR, not '" +
                             info.object->format + "'");
  std::shared_ptr<sim::Simulator> simulator = modules[info.object.get()].lock();
  if (!simulator) {
    auto parsed = sim::Simulator::parse(info.object->contents, info.name);
    if (!parsed)
      return parsed.takeError();
    simulator = std::move(*parsed);
    modules[info.object.get()] = simulator;
  }
  if (Error error = simulator->check(info.symbol))
    return error;
  return std::make_unique<SimKernel>(info, std::move(simulator));
}

Error SimDevice::launch(LoadedKernel &kernel, uint64_t workItems,
                        ArrayRef<LaunchArgument> arguments) {
  if (workItems > UINT32_MAX)
    return createStringError("kernel '" + kernel.info.name +
                             "': too many work items");
  sim::Launch launch;
  launch.kernel = kernel.info.symbol;
  launch.grid = {static_cast<uint32_t>(workItems), 1, 1};
  launch.block = {kernel.info.threads, 1, 1};
  launch.dynamicLDSBytes = kernel.info.ldsBytes;
  for (const LaunchArgument &argument : arguments)
    launch.args.push_back(argument.bits);
  for (auto [address, bytes] : buffers) {
    sim::Buffer buffer;
    buffer.base = reinterpret_cast<void *>(address);
    buffer.size = bytes;
    launch.buffers.push_back(std::move(buffer));
  }
  launch.seed = options.seed;
  launch.landing = options.landAtIssue ? sim::CopyLanding::AtIssue
                                       : sim::CopyLanding::AtWait;
  launch.threads = options.threads;
  auto result = static_cast<SimKernel &>(kernel).simulator->launch(launch);
  if (!result)
    return result.takeError();
  if (result->findings.empty())
    return Error::success();
  // Unrolled code repeats itself.
  std::set<std::string> texts;
  for (const sim::Finding &finding : result->findings)
    texts.insert(finding.text);
  std::string text;
  for (const std::string &line : texts)
    text += "\n  " + line;
  return createStringError("the simulator found:" + text);
}

std::unique_ptr<Device>
mlir::evoformer::createSimDevice(const SimDeviceOptions &options) {
  return std::make_unique<SimDevice>(options);
}

Expected<std::unique_ptr<Device>>
mlir::evoformer::createDevice(const DeviceOptions &options) {
  if (options.kind == "cpu")
    return createCPUDevice(options.threads);
  if (options.kind == "cuda")
    return createCUDADevice(options.ordinal, options.driverLibrary);
  if (options.kind == "hip")
    return createHIPDevice(options.ordinal, options.driverLibrary);
  if (options.kind == "sim")
    return createSimDevice(
        {options.seed, options.landAtIssue, options.threads});
  return createStringError("unknown device '" + options.kind +
                           "': it is cpu, cuda, hip or sim");
}
