//===- Device.cpp - Devices of the C API ----------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Cache.h"
#include "Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <cstdlib>
#include <pthread.h>
#include <tuple>

using namespace llvm;
using namespace mlir::evoformer;
using namespace mlir::evoformer::capi;
using namespace mlir::evoformer::runtime;

/// Forks that lie behind this process. A child has none of its parent's
/// threads.
static std::atomic<unsigned> generation{0};

Error LoadedProgram::load(Device &device, ArrayRef<unsigned> numbers) {
  SmallVector<unsigned> missing;
  for (unsigned number : numbers)
    if (!kernels[number] && !is_contained(missing, number))
      missing.push_back(number);
  if (missing.empty())
    return Error::success();
  auto code =
      program->getCode(missing, [&](StringRef format, StringRef contents) {
        device.prepare(format, contents);
      });
  if (!code)
    return code.takeError();
  auto loaded = device.loadAll(*code);
  if (!loaded)
    return loaded.takeError();
  for (auto [number, kernel] : zip_equal(missing, *loaded))
    kernels[number] = std::move(kernel);
  return Error::success();
}

namespace {
/// A device's own code beside the programs. The processor's depends on this
/// library, which the key therefore names.
class CodeCache final : public CodeStore {
public:
  std::optional<std::string> get(StringRef key) override {
    return DiskCache(DiskCache::getDefaultFolder()).get(getName(key));
  }
  void put(StringRef key, StringRef code) override {
    DiskCache(DiskCache::getDefaultFolder()).put(getName(key), code);
  }
  std::shared_ptr<void> lock(StringRef key) override {
    return DiskCache(DiskCache::getDefaultFolder()).lock(getName(key));
  }

private:
  static std::string getName(StringRef key) {
    return hashText((key + getBuildId()).str());
  }
};
} // namespace

static Expected<std::unique_ptr<Device>>
createDevice(StringRef kind, int ordinal, StringRef library) {
  if (kind == "cpu") {
    if (ordinal != 0)
      return createStringError("device " + Twine(ordinal) +
                               " of 1 processor does not exist");
    return createCPUDevice(getNumThreads(), std::make_unique<CodeCache>());
  }
  if (kind == "cuda")
    return createCUDADevice(ordinal, library, std::make_unique<CodeCache>());
  if (kind == "hip")
    return createHIPDevice(ordinal, library);
  return createStringError("device kind '" + kind +
                           "' is unknown: it is cpu, cuda or hip");
}

Error EvoformerDevice::enter() {
  if (generation == ::generation)
    return device->enter();
  generation = ::generation;
  if (kind != "cpu")
    return createStringError("a driver cannot be used in a process that was "
                             "forked after it was started: spawn it instead");
  auto anew = createDevice(kind, 0, "");
  if (!anew)
    return anew.takeError();
  // The old one would wait for threads that are not there.
  (void)device.release(); // NOLINT(bugprone-unused-return-value)
  device = std::move(*anew);
  return device->enter();
}

static Expected<EvoformerDevice *> openDevice(StringRef kind, int ordinal,
                                              StringRef library) {
  using Key = std::tuple<std::string, int, std::string>;
  static std::mutex mutex;
  // Not destroyed at exit, see EvoformerDevice.
  static auto &devices = *new std::map<Key, EvoformerDevice *>();
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    generation.fetch_add(1, std::memory_order_relaxed);
  });
  (void)registered;
  std::lock_guard<std::mutex> lock(mutex);
  EvoformerDevice *&slot = devices[{kind.str(), ordinal, library.str()}];
  if (slot)
    return slot;
  auto device = createDevice(kind, ordinal, library);
  if (!device)
    return device.takeError();
  auto opened = std::make_unique<EvoformerDevice>();
  opened->kind = kind.str();
  opened->chip = kind == "cpu" ? "cpu" : (*device)->getChip();
  opened->description = (*device)->getDescription();
  opened->generation = generation;
  // A new device has been entered.
  (*device)->leave();
  opened->device = std::move(*device);
  slot = opened.release();
  return slot;
}

EvoformerStatus evoformerDeviceOpen(const char *kind, int ordinal,
                                    const char *library,
                                    EvoformerDevice **device) {
  Expected<EvoformerDevice *> opened =
      openDevice(kind, ordinal, library ? library : "");
  if (!opened)
    return fail(opened.takeError());
  *device = *opened;
  return EVOFORMER_SUCCESS;
}

const char *evoformerDeviceGetChip(const EvoformerDevice *device) {
  return device->chip.c_str();
}

const char *evoformerDeviceGetDescription(const EvoformerDevice *device) {
  return device->description.c_str();
}

EvoformerStatus evoformerDeviceSynchronize(EvoformerDevice *device) {
  DeviceScope scope(*device);
  if (Error error = scope.takeError())
    return fail(std::move(error));
  if (Error error = device->device->synchronize())
    return fail(std::move(error));
  return EVOFORMER_SUCCESS;
}
