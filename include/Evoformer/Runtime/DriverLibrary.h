//===- DriverLibrary.h - The functions of a GPU's driver --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda and libamdhip64 have the same functions under different names, with
// one calling convention: handles and addresses are pointer-sized, results are
// ints (CUDA Driver API, "Module Management", "Execution Control"; HIP Runtime
// API, "Modules", whose functions mirror it). One table of names serves both.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_DRIVERLIBRARY_H
#define EVOFORMER_RUNTIME_DRIVERLIBRARY_H

#include "Evoformer/Runtime/CUDALaunch.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir::evoformer::runtime {

using DriverHandle = void *;

enum class DriverVendor { NVIDIA, AMD };

/// The driver's functions. A name is CUDA's, then HIP's.
struct DriverFunctions {
#define EVOFORMER_DRIVER_FUNCTIONS(FUNCTION)                                   \
  FUNCTION(init, (unsigned flags), "cuInit", "hipInit")                        \
  FUNCTION(getDeviceCount, (int *), "cuDeviceGetCount", "hipGetDeviceCount")   \
  FUNCTION(getDevice, (int *, int), "cuDeviceGet", "hipDeviceGet")             \
  FUNCTION(getDeviceName, (char *, int, int), "cuDeviceGetName",               \
           "hipDeviceGetName")                                                 \
  FUNCTION(malloc, (uint64_t *, size_t), "cuMemAlloc_v2", "hipMalloc")         \
  FUNCTION(free, (uint64_t), "cuMemFree_v2", "hipFree")                        \
  FUNCTION(copyIn, (uint64_t, const void *, size_t), "cuMemcpyHtoD_v2",        \
           "hipMemcpyHtoD")                                                    \
  FUNCTION(copyOut, (void *, uint64_t, size_t), "cuMemcpyDtoH_v2",             \
           "hipMemcpyDtoH")                                                    \
  FUNCTION(fill, (uint64_t, unsigned char, size_t), "cuMemsetD8_v2",           \
           "hipMemsetD8")                                                      \
  FUNCTION(loadModule,                                                         \
           (DriverHandle *, const void *, unsigned, int *, void **),           \
           "cuModuleLoadDataEx", "hipModuleLoadDataEx")                        \
  FUNCTION(unloadModule, (DriverHandle), "cuModuleUnload", "hipModuleUnload")  \
  FUNCTION(getFunction, (DriverHandle *, DriverHandle, const char *),          \
           "cuModuleGetFunction", "hipModuleGetFunction")                      \
  FUNCTION(launch,                                                             \
           (DriverHandle, unsigned, unsigned, unsigned, unsigned, unsigned,    \
            unsigned, unsigned, DriverHandle, void **, void **),               \
           "cuLaunchKernel", "hipModuleLaunchKernel")                          \
  FUNCTION(synchronize, (), "cuCtxSynchronize", "hipDeviceSynchronize")        \
  FUNCTION(createEvent, (DriverHandle *, unsigned), "cuEventCreate",           \
           "hipEventCreateWithFlags")                                          \
  FUNCTION(destroyEvent, (DriverHandle), "cuEventDestroy_v2",                  \
           "hipEventDestroy")                                                  \
  FUNCTION(recordEvent, (DriverHandle, DriverHandle), "cuEventRecord",         \
           "hipEventRecord")                                                   \
  FUNCTION(synchronizeEvent, (DriverHandle), "cuEventSynchronize",             \
           "hipEventSynchronize")                                              \
  FUNCTION(elapsed, (float *, DriverHandle, DriverHandle),                     \
           "cuEventElapsedTime", "hipEventElapsedTime")

#define EVOFORMER_DRIVER_STREAM_FUNCTIONS(FUNCTION)                            \
  FUNCTION(createStream, (DriverHandle *, unsigned), "cuStreamCreate",         \
           "hipStreamCreateWithFlags")                                         \
  FUNCTION(destroyStream, (DriverHandle), "cuStreamDestroy_v2",                \
           "hipStreamDestroy")                                                 \
  FUNCTION(synchronizeStream, (DriverHandle), "cuStreamSynchronize",           \
           "hipStreamSynchronize")                                             \
  FUNCTION(awaitEvent, (DriverHandle, DriverHandle, unsigned),                 \
           "cuStreamWaitEvent", "hipStreamWaitEvent")                          \
  FUNCTION(fill16, (uint64_t, unsigned short, size_t, DriverHandle),           \
           "cuMemsetD16Async", "hipMemsetD16Async")                            \
  FUNCTION(fill32, (uint64_t, unsigned, size_t, DriverHandle),                 \
           "cuMemsetD32Async", "hipMemsetD32Async")                            \
  FUNCTION(allocateManaged, (uint64_t *, size_t, unsigned),                    \
           "cuMemAllocManaged", "hipMallocManaged")                            \
  FUNCTION(registerHost, (void *, size_t, unsigned), "cuMemHostRegister_v2",   \
           "hipHostRegister")                                                  \
  FUNCTION(unregisterHost, (void *), "cuMemHostUnregister", "hipHostUnregister")

#define EVOFORMER_DECLARE(MEMBER, PARAMETERS, CUDA, HIP)                       \
  int(*MEMBER) PARAMETERS = nullptr;
  EVOFORMER_DRIVER_FUNCTIONS(EVOFORMER_DECLARE)
  // What only programs with streams of their own need; null where missing.
  EVOFORMER_DRIVER_STREAM_FUNCTIONS(EVOFORMER_DECLARE)
#undef EVOFORMER_DECLARE

  // Only CUDA has or needs these.
  int (*retainContext)(DriverHandle *, int) = nullptr;
  int (*pushContext)(DriverHandle) = nullptr;
  int (*popContext)(DriverHandle *) = nullptr;
  int (*getAttribute)(int *, int, int) = nullptr;
  int (*getVersion)(int *) = nullptr;
  int (*setFunctionAttribute)(DriverHandle, int, int) = nullptr;
  int (*launchExtended)(const CUDALaunch *, DriverHandle function, void **,
                        void **) = nullptr;
  int (*encodeTensorMap)(void *map, int elementType, unsigned rank,
                         uint64_t address, const uint64_t *sizes,
                         const uint64_t *strides, const uint32_t *box,
                         const uint32_t *elementStrides, int interleave,
                         int swizzle, int promotion, int fill) = nullptr;
  int (*cudaErrorName)(int, const char **) = nullptr;
  int (*cudaErrorText)(int, const char **) = nullptr;
  int (*cudaCopy)(uint64_t, uint64_t, size_t, DriverHandle) = nullptr;
  // Only HIP.
  int (*hipCopy)(uint64_t, uint64_t, size_t, int, DriverHandle) = nullptr;
  int (*setDevice)(int) = nullptr;
  int (*currentDevice)(int *) = nullptr;
  int (*getProperties)(void *, int) = nullptr;
  const char *(*hipErrorName)(int) = nullptr;
  const char *(*hipErrorText)(int) = nullptr;
};

/// Opens the library and fills the table.
class DriverLibrary {
public:
  static llvm::Expected<DriverLibrary> open(DriverVendor vendor,
                                            llvm::StringRef name);

  DriverVendor vendor;
  llvm::sys::DynamicLibrary handle;
  DriverFunctions call;

  /// Success if the functions are there that programs with streams need.
  llvm::Error checkStreamFunctions() const;

  /// Copies between host and device, whichever addresses are which, in the
  /// order of a stream.
  int copy(uint64_t to, uint64_t from, size_t bytes, DriverHandle stream) const;

  /// Loads code: PTX (which a zero ends) or machine code. `what` is for the
  /// message, which holds the log of the driver's compiler.
  llvm::Expected<DriverHandle> loadModule(const std::string &code,
                                          const llvm::Twine &what) const;

  /// Before a launch with so many bytes of dynamic workgroup memory.
  llvm::Error reserveSharedMemory(DriverHandle function, uint64_t bytes) const;

  /// Success, or an error with the driver's name for it.
  llvm::Error check(int code, const llvm::Twine &what) const;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_DRIVERLIBRARY_H
