//===- HostMemoryDevice.cpp - Devices in this machine's memory ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/HostMemoryDevice.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace mlir::evoformer::runtime;

LoadedKernel::~LoadedKernel() = default;
Device::~Device() = default;
CodeStore::~CodeStore() = default;
Error Device::enter() { return Error::success(); }
void Device::prepare(StringRef format, StringRef contents) {}

Expected<std::vector<std::unique_ptr<LoadedKernel>>>
Device::loadAll(ArrayRef<const KernelInfo *> infos) {
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
  for (const KernelInfo *info : infos) {
    Expected<std::unique_ptr<LoadedKernel>> kernel = load(*info);
    if (!kernel)
      return kernel.takeError();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

HostMemoryDevice::~HostMemoryDevice() {
  for (auto &[address, bytes] : buffers)
    std::free(reinterpret_cast<void *>(address - margin));
}

Expected<uint64_t> HostMemoryDevice::allocate(uint64_t bytes) {
  constexpr uint64_t alignment = 256;
  void *memory = nullptr;
  if (bytes <= SIZE_MAX - alignment - 2 * margin)
    memory = std::aligned_alloc(
        alignment,
        alignTo(std::max<uint64_t>(bytes, 1), alignment) + 2 * margin);
  if (!memory)
    return createStringError("out of memory: cannot allocate " + Twine(bytes) +
                             " bytes");
  uint64_t address = reinterpret_cast<uint64_t>(memory) + margin;
  buffers[address] = bytes;
  return address;
}

Error HostMemoryDevice::release(uint64_t address) {
  if (!buffers.erase(address))
    return createStringError("release of an address that is no buffer's");
  std::free(reinterpret_cast<void *>(address - margin));
  return Error::success();
}

Error HostMemoryDevice::copyIn(uint64_t to, ArrayRef<char> from) {
  if (!from.empty())
    std::memcpy(reinterpret_cast<void *>(to), from.data(), from.size());
  return Error::success();
}

Error HostMemoryDevice::copyOut(MutableArrayRef<char> to, uint64_t from) {
  if (!to.empty())
    std::memcpy(to.data(), reinterpret_cast<const void *>(from), to.size());
  return Error::success();
}

Error HostMemoryDevice::startTimer() {
  start = std::chrono::steady_clock::now();
  return Error::success();
}

Expected<double> HostMemoryDevice::stopTimer() {
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}
