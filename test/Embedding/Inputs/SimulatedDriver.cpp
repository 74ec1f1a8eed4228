//===- SimulatedDriver.cpp - A driver library over the simulator ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exports the driver functions that programs with kernels use, under CUDA's or
// HIP's names. Memory is the host's; a module is MLIR text, as
// `evoformer-serialize{embed format=mlir}` leaves it, and the simulator runs
// its kernels: what it finds is an error of the launch.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/HostMemoryDevice.h"
#include "Evoformer/Simulator/Simulator.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <mutex>

#ifdef SIMULATED_CUDA
#define NAME(CUDA, HIP) CUDA
#else
#define NAME(CUDA, HIP) HIP
#endif

using namespace mlir::evoformer;
using Handle = void *;

// The drivers' names.
// NOLINTBEGIN(readability-identifier-naming)

namespace {
/// Only its memory is used.
struct Memory : runtime::HostMemoryDevice {
  Memory() : HostMemoryDevice(sim::bufferMargin) {}
  using HostMemoryDevice::buffers;

  llvm::StringRef getKind() const override { return "simulated"; }
  std::string getDescription() const override { return "simulated"; }
  llvm::Expected<std::unique_ptr<runtime::LoadedKernel>>
  load(const runtime::KernelInfo &) override {
    return llvm::createStringError("not here");
  }
  llvm::Error flushCaches() override { return llvm::Error::success(); }
  llvm::Error launch(runtime::LoadedKernel &, uint64_t,
                     llvm::ArrayRef<runtime::LaunchArgument>) override {
    return llvm::createStringError("not here");
  }
};

struct Function {
  sim::Simulator *module;
  std::string name;
};
} // namespace

static Memory memory;
/// Drivers may be called by several threads at once.
static std::mutex allocating;

static int report(llvm::Error error) {
  if (!error)
    return 0;
  llvm::errs() << "simulated driver: " << toString(std::move(error)) << '\n';
  return 700;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int NAME(cuInit, hipInit)(unsigned) { return 0; }
EXPORT int NAME(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  *count = 1;
  return 0;
}
EXPORT int NAME(cuDeviceGet, hipDeviceGet)(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT int NAME(cuDeviceGetName, hipDeviceGetName)(char *name, int bytes, int) {
  std::strncpy(name, "simulated", bytes);
  return 0;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

EXPORT int NAME(cuMemAlloc_v2, hipMalloc)(uint64_t *address, size_t bytes) {
  std::lock_guard<std::mutex> lock(allocating);
  auto result = memory.allocate(bytes);
  if (!result)
    return report(result.takeError());
  *address = *result;
  return 0;
}
EXPORT int NAME(cuMemAllocManaged, hipMallocManaged)(uint64_t *address,
                                                     size_t bytes, unsigned) {
  return NAME(cuMemAlloc_v2, hipMalloc)(address, bytes);
}
EXPORT int NAME(cuMemFree_v2, hipFree)(uint64_t address) {
  std::lock_guard<std::mutex> lock(allocating);
  return report(memory.release(address));
}
EXPORT int NAME(cuMemcpyHtoD_v2, hipMemcpyHtoD)(uint64_t to, const void *from,
                                                size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
EXPORT int NAME(cuMemcpyDtoH_v2, hipMemcpyDtoH)(void *to, uint64_t from,
                                                size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
#ifdef SIMULATED_CUDA
EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, Handle) {
#else
EXPORT int hipMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, int,
                          Handle) {
#endif
  std::memcpy(reinterpret_cast<void *>(to),
              reinterpret_cast<const void *>(from), bytes);
  return 0;
}
template <typename T> static int fill(uint64_t address, T value, size_t count) {
  std::fill_n(reinterpret_cast<T *>(address), count, value);
  return 0;
}
EXPORT int NAME(cuMemsetD8_v2, hipMemsetD8)(uint64_t address,
                                            unsigned char value, size_t count) {
  return fill(address, value, count);
}
EXPORT int NAME(cuMemsetD16Async, hipMemsetD16Async)(uint64_t address,
                                                     unsigned short value,
                                                     size_t count, Handle) {
  return fill(address, value, count);
}
EXPORT int NAME(cuMemsetD32Async, hipMemsetD32Async)(uint64_t address,
                                                     unsigned value,
                                                     size_t count, Handle) {
  return fill(address, value, count);
}
EXPORT int NAME(cuMemHostRegister_v2, hipHostRegister)(void *begin,
                                                       size_t bytes, unsigned) {
  memory.buffers[reinterpret_cast<uint64_t>(begin)] = bytes;
  return 0;
}
EXPORT int NAME(cuMemHostUnregister, hipHostUnregister)(void *begin) {
  memory.buffers.erase(reinterpret_cast<uint64_t>(begin));
  return 0;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

EXPORT int NAME(cuModuleLoadDataEx,
                hipModuleLoadDataEx)(Handle *module, const void *image,
                                     unsigned, int *, void **) {
  auto parsed =
      sim::Simulator::parse(static_cast<const char *>(image), "kernels");
  if (!parsed)
    return report(parsed.takeError());
  *module = parsed->release();
  return 0;
}
EXPORT int NAME(cuModuleUnload, hipModuleUnload)(Handle module) {
  delete static_cast<sim::Simulator *>(module);
  return 0;
}
EXPORT int NAME(cuModuleGetFunction, hipModuleGetFunction)(Handle *function,
                                                           Handle module,
                                                           const char *name) {
  auto *simulator = static_cast<sim::Simulator *>(module);
  if (llvm::Error error = simulator->check(name))
    return report(std::move(error));
  *function = new Function{simulator, name};
  return 0;
}
EXPORT int NAME(cuLaunchKernel,
                hipModuleLaunchKernel)(Handle function, unsigned gridX,
                                       unsigned gridY, unsigned gridZ,
                                       unsigned blockX, unsigned blockY,
                                       unsigned blockZ, unsigned shared, Handle,
                                       void **params, void **) {
  auto *kernel = static_cast<Function *>(function);
  auto types = kernel->module->getArgumentTypes(kernel->name);
  if (!types)
    return report(types.takeError());
  if (gridX == 0 || gridY == 0 || gridZ == 0)
    return 1;
  sim::Launch launch;
  launch.kernel = kernel->name;
  launch.grid = {gridX, gridY, gridZ};
  launch.block = {blockX, blockY, blockZ};
  launch.dynamicLDSBytes = shared;
  for (auto [type, param] :
       llvm::zip(*types, llvm::ArrayRef<void *>(params, types->size()))) {
    llvm::StringRef name(type);
    unsigned bits = 64;
    bool isNumber = name != "ptr" && !name.drop_until(llvm::isDigit)
                                          .take_while(llvm::isDigit)
                                          .getAsInteger(10, bits);
    uint64_t value = 0;
    std::memcpy(&value, param, isNumber ? (bits + 7) / 8 : 8);
    launch.args.push_back(value);
  }
  for (auto [address, bytes] : memory.buffers) {
    sim::Buffer buffer;
    buffer.base = reinterpret_cast<void *>(address);
    buffer.size = bytes;
    launch.buffers.push_back(std::move(buffer));
  }
  auto result = kernel->module->launch(launch);
  if (!result)
    return report(result.takeError());
  for (const sim::Finding &finding : result->findings)
    llvm::errs() << "simulated driver: " << finding.text << '\n';
  return result->findings.empty() ? 0 : 700;
}

//===----------------------------------------------------------------------===//
// Order: everything has ended when it returns.
//===----------------------------------------------------------------------===//

static int make(Handle *handle) {
  *handle = handle;
  return 0;
}
EXPORT int NAME(cuCtxSynchronize, hipDeviceSynchronize)() { return 0; }
EXPORT int NAME(cuStreamCreate, hipStreamCreateWithFlags)(Handle *stream,
                                                          unsigned) {
  return make(stream);
}
EXPORT int NAME(cuStreamDestroy_v2, hipStreamDestroy)(Handle) { return 0; }
EXPORT int NAME(cuStreamSynchronize, hipStreamSynchronize)(Handle) { return 0; }
EXPORT int NAME(cuStreamWaitEvent, hipStreamWaitEvent)(Handle, Handle,
                                                       unsigned) {
  return 0;
}
EXPORT int NAME(cuEventCreate, hipEventCreateWithFlags)(Handle *event,
                                                        unsigned) {
  return make(event);
}
EXPORT int NAME(cuEventDestroy_v2, hipEventDestroy)(Handle) { return 0; }
EXPORT int NAME(cuEventRecord, hipEventRecord)(Handle, Handle) { return 0; }
EXPORT int NAME(cuEventSynchronize, hipEventSynchronize)(Handle) { return 0; }
EXPORT int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds,
                                                         Handle, Handle) {
  *milliseconds = 0;
  return 0;
}

static const char *errorText(int code) {
  return code == 700 ? "see above" : "invalid value";
}
#ifdef SIMULATED_CUDA
EXPORT int cuDevicePrimaryCtxRetain(Handle *context, int) {
  return make(context);
}
EXPORT int cuCtxPushCurrent_v2(Handle) { return 0; }
EXPORT int cuCtxPopCurrent_v2(Handle *) { return 0; }
EXPORT int cuDeviceGetAttribute(int *value, int, int) {
  *value = 0;
  return 0;
}
EXPORT int cuFuncSetAttribute(Handle, int, int) { return 0; }
EXPORT int cuGetErrorName(int, const char **name) {
  *name = "SIMULATED_ERROR";
  return 0;
}
EXPORT int cuGetErrorString(int code, const char **text) {
  *text = errorText(code);
  return 0;
}
#else
EXPORT int hipSetDevice(int) { return 0; }
EXPORT int hipGetDevice(int *device) {
  *device = 0;
  return 0;
}
EXPORT const char *hipGetErrorName(int) { return "SIMULATED_ERROR"; }
EXPORT const char *hipGetErrorString(int code) { return errorText(code); }
#endif

// NOLINTEND(readability-identifier-naming)
