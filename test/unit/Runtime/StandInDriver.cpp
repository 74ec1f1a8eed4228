//===- StandInDriver.cpp - A driver library without a device --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exports the driver functions that lib/Runtime uses, over host memory. Every
// call is appended to a log; the module text "iota" holds a kernel `iota` that
// writes start, start + 1, … to its memref. standInFail makes a function fail.
//
// With EVOFORMER_STAND_IN=quiet it has two devices, takes any module and
// kernel, runs none and logs nothing but how often modules were loaded: what is
// left of a call is the time of the host. EVOFORMER_STAND_IN_CHIP is another
// chip of AMD's than gfx942.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/CUDALaunch.h"
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#ifdef STAND_IN_CUDA
#define NAME(CUDA, HIP) CUDA
constexpr bool isCUDA = true;
#else
#define NAME(CUDA, HIP) HIP
constexpr bool isCUDA = false;
#endif

// The drivers' names.
// NOLINTBEGIN(readability-identifier-naming)

using Handle = void *;
using mlir::evoformer::runtime::CUDALaunch;

static std::string recording;
static std::string failingFunction;
static int failingCode = 0;
constexpr int usualVersion = 13000;
static int driverVersion = usualVersion;

static const bool isQuiet = [] {
  const char *mode = std::getenv("EVOFORMER_STAND_IN");
  return mode && std::strcmp(mode, "quiet") == 0;
}();
static std::atomic<int> numLoads{0}, numLaunches{0};
static Handle lastStream = nullptr;

/// Logs the call; the code that the function shall return.
static int record(const char *function, const std::string &details = "") {
  if (isQuiet)
    return 0;
  recording += std::string(function) + "(" + details + ")\n";
  return failingFunction == function ? failingCode : 0;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char *standInRecording() { return recording.c_str(); }
EXPORT int standInLoads() { return numLoads; }
EXPORT int standInLaunches() { return numLaunches; }
/// Of the last launch.
EXPORT Handle standInStream() { return lastStream; }
EXPORT void standInReset() {
  recording.clear();
  failingFunction.clear();
  driverVersion = usualVersion;
}
EXPORT void standInVersion(int version) { driverVersion = version; }
EXPORT void standInFail(const char *function, int code) {
  failingFunction = function;
  failingCode = code;
}

EXPORT int NAME(cuInit, hipInit)(unsigned) { return record("init"); }
EXPORT int NAME(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  *count = isQuiet ? 2 : 1;
  return record("getDeviceCount");
}
EXPORT int NAME(cuDeviceGet, hipDeviceGet)(int *device, int ordinal) {
  *device = ordinal;
  return record("getDevice");
}
EXPORT int NAME(cuDeviceGetName, hipDeviceGetName)(char *name, int bytes, int) {
  std::snprintf(name, bytes, "stand-in");
  return record("getDeviceName");
}
EXPORT int NAME(cuMemAlloc_v2, hipMalloc)(uint64_t *address, size_t bytes) {
  int code = record("malloc", std::to_string(bytes));
  if (code == 0)
    *address = reinterpret_cast<uint64_t>(
        std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return code;
}
EXPORT int NAME(cuMemFree_v2, hipFree)(uint64_t address) {
  std::free(reinterpret_cast<void *>(address));
  return record("free");
}
EXPORT int NAME(cuMemcpyHtoD_v2, hipMemcpyHtoD)(uint64_t to, const void *from,
                                                size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return record("copyIn", std::to_string(bytes));
}
EXPORT int NAME(cuMemcpyDtoH_v2, hipMemcpyDtoH)(void *to, uint64_t from,
                                                size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return record("copyOut", std::to_string(bytes));
}
EXPORT int NAME(cuMemsetD8_v2, hipMemsetD8)(uint64_t, unsigned char, size_t) {
  return record("fill");
}
EXPORT int NAME(cuModuleLoadDataEx,
                hipModuleLoadDataEx)(Handle *module, const void *image,
                                     unsigned numOptions, int *options,
                                     void **values) {
  *module = nullptr;
  ++numLoads;
  if (isQuiet)
    return 0;
  if (std::strcmp(static_cast<const char *>(image), "iota") == 0) {
    *module = reinterpret_cast<Handle>(1);
    return record("loadModule");
  }
  for (unsigned i = 0; i < numOptions; ++i)
    if (options[i] == 5) // the error log
      std::strcpy(static_cast<char *>(values[i]), "line 1: no such thing");
  record("loadModule");
  return 218;
}
EXPORT int cuDriverGetVersion(int *version) {
  *version = driverVersion;
  return 0;
}
/// What is linked is the PTX itself.
EXPORT int cuLinkCreate_v2(unsigned, int *, void **, Handle *state) {
  *state = new std::string();
  return record("linkCreate");
}
EXPORT int cuLinkAddData_v2(Handle state, int type, void *data, size_t size,
                            const char *, unsigned, int *, void **) {
  if (type != 1 || static_cast<char *>(data)[size - 1] != 0)
    return 1;
  *static_cast<std::string *>(state) = static_cast<char *>(data);
  return isQuiet || std::strcmp(static_cast<char *>(data), "iota") == 0 ? 0
                                                                        : 218;
}
EXPORT int cuLinkComplete(Handle state, void **code, size_t *bytes) {
  auto &text = *static_cast<std::string *>(state);
  *code = text.data();
  *bytes = text.size() + 1;
  return 0;
}
EXPORT int cuLinkDestroy(Handle state) {
  delete static_cast<std::string *>(state);
  return 0;
}
EXPORT int NAME(cuModuleUnload, hipModuleUnload)(Handle) {
  return record("unloadModule");
}
EXPORT int NAME(cuModuleGetFunction, hipModuleGetFunction)(Handle *function,
                                                           Handle,
                                                           const char *name) {
  record("getFunction", name);
  *function = reinterpret_cast<Handle>(2);
  return isQuiet || std::strcmp(name, "iota") == 0 ? 0 : 500;
}
EXPORT int NAME(cuLaunchKernel,
                hipModuleLaunchKernel)(Handle, unsigned gridX, unsigned gridY,
                                       unsigned gridZ, unsigned blockX,
                                       unsigned blockY, unsigned blockZ,
                                       unsigned ldsBytes, Handle stream,
                                       void **params, void **extra) {
  ++numLaunches;
  lastStream = stream;
  if (isQuiet)
    return 0;
  // Arguments are packed, or named one by one, of CUDA's with a tensor map
  // behind them.
  if (params ? extra || !isCUDA
             : extra[0] != reinterpret_cast<void *>(1) ||
                   extra[2] != reinterpret_cast<void *>(2) ||
                   extra[4] != reinterpret_cast<void *>(isCUDA ? 0 : 3))
    return 1;
  constexpr size_t numArguments = 7;
  size_t bytes = params ? 0 : *static_cast<size_t *>(extra[3]);
  if (params)
    record("map", static_cast<const char *>(params[numArguments]));
  auto text = [](unsigned number) { return std::to_string(number); };
  int code = record("launch", "grid " + text(gridX) + "," + text(gridY) + "," +
                                  text(gridZ) + " block " + text(blockX) + "," +
                                  text(blockY) + "," + text(blockZ) + " lds " +
                                  text(ldsBytes) + " bytes " + text(bytes) +
                                  (stream ? " on a stream" : ""));
  if (code)
    return code;
  // memref<?xi64, strided<[?], offset: ?>>, i32, one extent.
  struct Arguments {
    int64_t *allocated, *aligned;
    int64_t offset, size, stride;
    int32_t start;
    int64_t extent;
  };
  if (!params && bytes != sizeof(Arguments))
    return 1;
  Arguments arguments;
  if (params) {
    void *fields[numArguments] = {&arguments.allocated, &arguments.aligned,
                                  &arguments.offset,    &arguments.size,
                                  &arguments.stride,    &arguments.start,
                                  &arguments.extent};
    for (size_t i = 0; i < numArguments; ++i)
      std::memcpy(fields[i], params[i], i == 5 ? 4 : 8);
  } else {
    std::memcpy(&arguments, extra[1], bytes);
  }
  if (arguments.extent != gridX)
    return 1;
  for (int64_t i = 0; i < arguments.size; ++i)
    arguments.aligned[arguments.offset + i * arguments.stride] =
        arguments.start + i;
  return 0;
}
#ifdef STAND_IN_CUDA
/// The rest of a launch is as ever.
EXPORT int cuLaunchKernelEx(const CUDALaunch *config, Handle function,
                            void **params, void **extra) {
  for (unsigned i = 0; i < config->numAttributes; ++i)
    record("attribute", std::to_string(config->attributes[i].id) + " = " +
                            std::to_string(config->attributes[i].value.flag));
  const auto &[x, y, z] = config->grid;
  const auto &[threadsX, threadsY, threadsZ] = config->block;
  return cuLaunchKernel(function, x, y, z, threadsX, threadsY, threadsZ,
                        config->sharedBytes, config->stream, params, extra);
}
/// The map is what it was asked for, as text.
EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                                  uint64_t address, const uint64_t *sizes,
                                  const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *steps, int interleave,
                                  int swizzle, int promotion, int fill) {
  if (isQuiet)
    return 0;
  auto list = [&](const auto *numbers, unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i)
      text += (i ? "," : "") + std::to_string(numbers[i]);
    return text;
  };
  std::string text = "type " + std::to_string(type) + " sizes " +
                     list(sizes, rank) + " strides " + list(strides, rank - 1) +
                     " box " + list(box, rank) + " steps " + list(steps, rank) +
                     " swizzle " + std::to_string(swizzle) + " fill " +
                     std::to_string(interleave + fill);
  constexpr size_t mapBytes = 128, mapAlignment = 64;
  if (text.size() >= mapBytes || address % 16 != 0 || promotion > 3 ||
      reinterpret_cast<uintptr_t>(map) % mapAlignment != 0)
    return 1;
  std::memcpy(map, text.c_str(), text.size() + 1);
  return record("encodeTensorMap");
}
#endif
EXPORT int NAME(cuCtxSynchronize, hipDeviceSynchronize)() {
  return record("synchronize");
}
EXPORT int NAME(cuEventCreate, hipEventCreateWithFlags)(Handle *event,
                                                        unsigned) {
  *event = reinterpret_cast<Handle>(3);
  return record("createEvent");
}
EXPORT int NAME(cuEventDestroy_v2, hipEventDestroy)(Handle) {
  return record("destroyEvent");
}
EXPORT int NAME(cuEventRecord, hipEventRecord)(Handle, Handle) {
  return record("recordEvent");
}
EXPORT int NAME(cuEventSynchronize, hipEventSynchronize)(Handle) {
  return record("synchronizeEvent");
}
EXPORT int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds,
                                                         Handle, Handle) {
  *milliseconds = 1.5;
  return record("elapsed");
}

static const char *errorName(int code) {
  return code == 2 ? "ERROR_OUT_OF_MEMORY" : "ERROR_OTHER";
}
#ifdef STAND_IN_CUDA
EXPORT int cuDevicePrimaryCtxRetain(Handle *context, int) {
  *context = reinterpret_cast<Handle>(4);
  return record("retainContext");
}
EXPORT int cuCtxPushCurrent_v2(Handle) { return record("pushContext"); }
EXPORT int cuCtxPopCurrent_v2(Handle *) { return record("popContext"); }
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return record("getAttribute", std::to_string(attribute));
}
EXPORT int cuFuncSetAttribute(Handle, int attribute, int value) {
  return record("setFunctionAttribute",
                std::to_string(attribute) + " = " + std::to_string(value));
}
EXPORT int cuGetErrorName(int code, const char **name) {
  *name = errorName(code);
  return 0;
}
EXPORT int cuGetErrorString(int, const char **text) {
  *text = "described";
  return 0;
}
#else
EXPORT int hipSetDevice(int device) {
  return record("setDevice", std::to_string(device));
}
EXPORT int hipGetDevice(int *device) {
  *device = 7;
  return record("getDeviceInUse");
}
EXPORT int hipGetDevicePropertiesR0600(void *properties, int) {
  std::strcpy(static_cast<char *>(properties), "gfx of a name");
  const char *chip = std::getenv("EVOFORMER_STAND_IN_CHIP");
  std::strcpy(static_cast<char *>(properties) + 1160,
              chip ? chip : "gfx942:sramecc+:xnack-");
  return record("getProperties");
}
EXPORT const char *hipGetErrorName(int code) { return errorName(code); }
EXPORT const char *hipGetErrorString(int) { return "described"; }
#endif

// NOLINTEND(readability-identifier-naming)
