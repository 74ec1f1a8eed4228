//===- SimDevice.cpp - Launch plans in the simulator ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/SimDevice.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <set>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace {
struct SimKernel : LoadedKernel {
  SimKernel(const KernelInfo &info, std::shared_ptr<sim::Simulator> simulator)
      : LoadedKernel(info), simulator(std::move(simulator)) {}
  std::shared_ptr<sim::Simulator> simulator;
};
} // namespace

std::string SimDevice::getDescription() const {
  return "simulator, seed " + std::to_string(options.seed);
}

Expected<std::shared_ptr<sim::Simulator>>
SimDevice::getModule(const KernelInfo &info) {
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
  return simulator;
}

Expected<std::unique_ptr<LoadedKernel>>
SimDevice::load(const KernelInfo &info) {
  Expected<std::shared_ptr<sim::Simulator>> simulator = getModule(info);
  if (!simulator)
    return simulator.takeError();
  if (Error error = (*simulator)->check(info.symbol))
    return error;
  return std::make_unique<SimKernel>(info, std::move(*simulator));
}

Error SimDevice::release(uint64_t address) {
  divided.erase(address);
  return HostMemoryDevice::release(address);
}

void SimDevice::divide(uint64_t address, ArrayRef<MemoryRange> parts) {
  auto behind = buffers.upper_bound(address);
  if (behind == buffers.begin())
    return;
  auto [start, bytes] = *std::prev(behind);
  if (address - start >= std::max<uint64_t>(bytes, 1))
    return;
  if (parts.empty())
    divided.erase(start);
  else
    divided[start].assign(parts.begin(), parts.end());
}

SimKernelRecord &SimDevice::getRecord(const KernelInfo &info,
                                      std::shared_ptr<sim::Simulator> module) {
  auto record = llvm::find_if(records, [&](const SimKernelRecord &r) {
    return r.name == info.symbol && r.module == module;
  });
  if (record != records.end())
    return *record;
  SimKernelRecord &added = records.emplace_back();
  added.name = info.symbol;
  added.module = std::move(module);
  return added;
}

/// Unrolled code repeats itself, so equal texts are one.
static Error makeError(ArrayRef<sim::Finding> findings) {
  std::set<std::string> texts;
  for (const sim::Finding &finding : findings)
    texts.insert(finding.text);
  std::string text;
  for (const std::string &line : texts)
    text += "\n  " + line;
  return createStringError("the simulator found:" + text);
}

static sim::TensorMap convert(const TensorMap &map) {
  sim::TensorMap result;
  result.address = map.address;
  result.rank = map.box.size();
  result.elementBytes = map.elementBytes;
  llvm::copy(map.sizes, result.sizes.begin());
  llvm::copy(map.strides, result.strides.begin());
  llvm::copy(map.box, result.box.begin());
  result.swizzle = map.swizzle;
  return result;
}

Error SimDevice::launch(LoadedKernel &kernel, uint64_t workItems,
                        ArrayRef<LaunchArgument> args) {
  if (workItems > UINT32_MAX)
    return createStringError("kernel '" + kernel.info.name +
                             "': too many work items");
  sim::Launch launch;
  launch.kernel = kernel.info.symbol;
  launch.grid = {static_cast<uint32_t>(workItems), 1, 1};
  launch.block = {kernel.info.threads, 1, 1};
  launch.dynamicLDSBytes = kernel.info.ldsBytes;
  for (const LaunchArgument &argument : args)
    launch.args.push_back(argument.bits);
  for (const TensorMap &map : makeTensorMaps(kernel.info, args)) {
    if (Error error = checkTensorMap(map))
      return createStringError("kernel '" + kernel.info.name +
                               "': " + toString(std::move(error)));
    launch.maps.push_back(convert(map));
    launch.args.push_back(launch.maps.size());
  }
  auto add = [&](MemoryRange range, const llvm::Twine &name) {
    sim::Buffer buffer;
    buffer.base = reinterpret_cast<void *>(range.address);
    buffer.size = range.bytes;
    buffer.name = name.str();
    launch.buffers.push_back(std::move(buffer));
  };
  for (auto [address, bytes] : buffers) {
    auto parts = divided.find(address);
    if (parts == divided.end())
      add({address, bytes}, "");
    else
      for (auto [number, part] : llvm::enumerate(parts->second))
        add(part, "buffer " + llvm::Twine(number) + " of the host program");
  }
  launch.seed = options.seed;
  launch.landing = options.landing;
  launch.threads = options.threads;
  launch.maxBlocksPerSubgroup = options.maxBlocksPerSubgroup;
  launch.bankConflictDegree = options.bankConflictDegree;
  launch.findNonFinite = options.findNonFinite;

  std::shared_ptr<sim::Simulator> module =
      static_cast<SimKernel &>(kernel).simulator;
  auto other = replaced.find(module.get());
  if (observer)
    observer(*module, launch, nullptr);
  auto begin = std::chrono::steady_clock::now();
  auto result =
      (other == replaced.end() ? module : other->second)->launch(launch);
  if (!result)
    return result.takeError();
  if (observer)
    observer(*module, launch, &*result);
  SimKernelRecord &record = getRecord(kernel.info, module);
  ++record.launches;
  record.subgroupSize = result->subgroupSize;
  record.counters.add(result->counters);
  record.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  record.longestSubgroup =
      std::max(record.longestSubgroup, result->longestSubgroup);
  if (result->findings.empty())
    return Error::success();
  hadFindings = true;
  return makeError(result->findings);
}

Expected<std::unique_ptr<Device>>
mlir::evoformer::createDevice(const DeviceOptions &options) {
  if (options.kind == "cpu")
    return createCPUDevice(options.threads);
  if (options.kind == "cuda")
    return createCUDADevice(options.ordinal, options.driverLibrary);
  if (options.kind == "hip")
    return createHIPDevice(options.ordinal, options.driverLibrary);
  if (options.kind != "sim")
    return createStringError("unknown device '" + options.kind +
                             "': it is cpu, cuda, hip or sim");
  SimDeviceOptions simulation = options.simulation;
  simulation.threads = options.threads;
  return std::make_unique<SimDevice>(simulation);
}
