//===- DriverLibrary.cpp - The functions of a GPU's driver ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/DriverLibrary.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

// Numbers of the driver APIs (cuda.h, hip/hip_runtime_api.h).
constexpr int jitInfoLog = 3, jitInfoLogBytes = 4, jitErrorLog = 5,
              jitErrorLogBytes = 6;
constexpr int maxDynamicSharedBytes = 8;
constexpr uint64_t defaultSharedBytes = 48 * 1024;

static Error createLacksError(const Twine &symbol) {
  return createStringError("the driver library lacks '" + symbol +
                           "': it is too old or something else");
}

Expected<DriverLibrary> DriverLibrary::open(DriverVendor vendor,
                                            StringRef name) {
  bool isNVIDIA = vendor == DriverVendor::NVIDIA;
  SmallVector<std::string> names;
  if (!name.empty())
    names = {name.str()};
  else if (isNVIDIA)
    names = {"libcuda.so.1", "libcuda.so"};
  else
    names = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
             "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so"};

  sys::DynamicLibrary handle;
  std::string firstProblem;
  for (const std::string &candidate : names) {
    std::string problem;
    handle =
        sys::DynamicLibrary::getPermanentLibrary(candidate.c_str(), &problem);
    if (handle.isValid())
      break;
    if (firstProblem.empty())
      firstProblem = problem;
  }
  if (!handle.isValid())
    return createStringError(Twine("no ") + (isNVIDIA ? "NVIDIA" : "AMD") +
                             " driver here: cannot open " + names.front() +
                             ": " + firstProblem);

  DriverLibrary library;
  library.vendor = vendor;
  library.handle = handle;
  std::string missing;
  auto resolveOptional = [&](auto &member, const char *symbol) {
    member = reinterpret_cast<std::decay_t<decltype(member)>>(
        handle.getAddressOfSymbol(symbol));
  };
  auto resolve = [&](auto &member, const char *symbol) {
    resolveOptional(member, symbol);
    if (!member && missing.empty())
      missing = symbol;
  };
  DriverFunctions &call = library.call;
#define EVOFORMER_RESOLVE(MEMBER, PARAMETERS, CUDA, HIP)                       \
  resolve(call.MEMBER, isNVIDIA ? CUDA : HIP);
  EVOFORMER_DRIVER_FUNCTIONS(EVOFORMER_RESOLVE)
#undef EVOFORMER_RESOLVE
#define EVOFORMER_RESOLVE(MEMBER, PARAMETERS, CUDA, HIP)                       \
  resolveOptional(call.MEMBER, isNVIDIA ? CUDA : HIP);
  EVOFORMER_DRIVER_STREAM_FUNCTIONS(EVOFORMER_RESOLVE)
#undef EVOFORMER_RESOLVE
  if (isNVIDIA) {
    resolve(call.retainContext, "cuDevicePrimaryCtxRetain");
    resolve(call.pushContext, "cuCtxPushCurrent_v2");
    resolve(call.popContext, "cuCtxPopCurrent_v2");
    resolve(call.getAttribute, "cuDeviceGetAttribute");
    resolveOptional(call.getVersion, "cuDriverGetVersion");
    resolveOptional(call.cudaCopy, "cuMemcpyAsync");
    resolveOptional(call.encodeTensorMap, "cuTensorMapEncodeTiled");
    resolveOptional(call.launchExtended, "cuLaunchKernelEx");
    resolve(call.setFunctionAttribute, "cuFuncSetAttribute");
    resolve(call.cudaErrorName, "cuGetErrorName");
    resolve(call.cudaErrorText, "cuGetErrorString");
  } else {
    resolve(call.setDevice, "hipSetDevice");
    resolve(call.currentDevice, "hipGetDevice");
    // Its name says which version of the structure it fills.
    resolveOptional(call.getProperties, "hipGetDevicePropertiesR0600");
    resolveOptional(call.hipCopy, "hipMemcpyAsync");
    resolve(call.hipErrorName, "hipGetErrorName");
    resolve(call.hipErrorText, "hipGetErrorString");
  }
  if (!missing.empty())
    return createLacksError(missing);
  return library;
}

Error DriverLibrary::check(int code, const Twine &what) const {
  if (code == 0)
    return Error::success();
  const char *errorName = nullptr, *text = nullptr;
  if (vendor == DriverVendor::NVIDIA) {
    call.cudaErrorName(code, &errorName);
    call.cudaErrorText(code, &text);
  } else {
    errorName = call.hipErrorName(code);
    text = call.hipErrorText(code);
  }
  return createStringError(what + ": " + (errorName ? errorName : "error") +
                           " (" + Twine(code) + ")" + (text ? ": " : "") +
                           (text ? text : ""));
}

Error DriverLibrary::checkStreamFunctions() const {
  bool isNVIDIA = vendor == DriverVendor::NVIDIA;
  const char *missing = nullptr;
#define EVOFORMER_CHECK(MEMBER, PARAMETERS, CUDA, HIP)                         \
  if (!call.MEMBER && !missing)                                                \
    missing = isNVIDIA ? CUDA : HIP;
  EVOFORMER_DRIVER_STREAM_FUNCTIONS(EVOFORMER_CHECK)
#undef EVOFORMER_CHECK
  if (!missing && !call.cudaCopy && !call.hipCopy)
    missing = isNVIDIA ? "cuMemcpyAsync" : "hipMemcpyAsync";
  if (!missing)
    return Error::success();
  return createLacksError(missing);
}

int DriverLibrary::copy(uint64_t to, uint64_t from, size_t bytes,
                        DriverHandle stream) const {
  // The number of the kind that looks at the addresses (hipMemcpyDefault).
  constexpr int anyKind = 4;
  return call.cudaCopy ? call.cudaCopy(to, from, bytes, stream)
                       : call.hipCopy(to, from, bytes, anyKind, stream);
}

Expected<DriverHandle> DriverLibrary::loadModule(const std::string &code,
                                                 const Twine &what) const {
  // The logs' sizes are passed as values in the pointers.
  std::string errorLog(16384, '\0'), infoLog(16384, '\0');
  auto number = [](uintptr_t value) {
    return reinterpret_cast<void *>(value); // NOLINT(performance-no-int-to-ptr)
  };
  int options[] = {jitErrorLog, jitErrorLogBytes, jitInfoLog, jitInfoLogBytes};
  void *values[] = {errorLog.data(), number(errorLog.size() - 1),
                    infoLog.data(), number(infoLog.size() - 1)};
  DriverHandle module = nullptr;
  int result =
      call.loadModule(&module, code.c_str(),
                      vendor == DriverVendor::NVIDIA ? 4 : 0, options, values);
  std::string log(errorLog.c_str());
  if (Error error = check(result, what)) {
    if (log.empty())
      return error;
    return createStringError(toString(std::move(error)) + "\n" + log);
  }
  return module;
}

Error DriverLibrary::reserveSharedMemory(DriverHandle function,
                                         uint64_t bytes) const {
  if (vendor != DriverVendor::NVIDIA || bytes <= defaultSharedBytes)
    return Error::success();
  return check(
      call.setFunctionAttribute(function, maxDynamicSharedBytes, bytes),
      "asking for " + Twine(bytes) + " bytes of shared memory");
}
