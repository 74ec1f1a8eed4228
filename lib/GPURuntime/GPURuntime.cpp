//===- GPURuntime.cpp - What MLIR's GPU programs call ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that upstream's `gpu-to-llvm` and the translation of
// `gpu.binary` and `gpu.launch_func` call, over whichever driver is here:
// upstream has a library for CUDA and one for HIP, each linked to its toolkit.
//
// EVOFORMER_GPU=cuda or hip says which driver to take; without it NVIDIA's is
// tried first. EVOFORMER_GPU_DRIVER names its library by path. These functions
// have no way to report an error: it is printed, and the program ends.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/DriverLibrary.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <mutex>

using namespace llvm;
using namespace mlir::evoformer::runtime;

[[noreturn]] static void fail(const Twine &message) {
  errs() << "evoformer GPU runtime: " << message << '\n';
  std::abort();
}

static void check(Error error) {
  if (error)
    fail(toString(std::move(error)));
}

namespace {
/// The one driver of this process, and the device that each thread uses.
class Driver {
public:
  /// Kept to the end: programs unload their kernels when statics are gone.
  static Driver &get() {
    static auto *driver = new Driver;
    return *driver;
  }

  const DriverFunctions &call() const { return library.call; }
  const DriverLibrary &getLibrary() const { return library; }
  void check(int code, const Twine &what) const {
    ::check(library.check(code, what));
  }

  void setDevice(int number);
  static int getDevice() { return ordinal; }
  void enter();
  void leave();

  /// Programs make a stream for each few launches: streams are kept.
  DriverHandle takeStream();
  void giveStream(DriverHandle stream);

private:
  Driver() : library(open()) {
    check(library.call.init(0), "starting the driver");
  }
  static DriverLibrary open();
  /// NVIDIA's context of this thread's device.
  DriverHandle getContext();

  bool isNVIDIA() const { return library.vendor == DriverVendor::NVIDIA; }

  DriverLibrary library;
  /// As in upstream's libraries, of the thread.
  static thread_local int ordinal;
  std::mutex mutex;
  DenseMap<int, DriverHandle> contexts;
  /// Streams of each device that nobody uses now.
  DenseMap<int, SmallVector<DriverHandle>> idle;
  DenseMap<DriverHandle, int> devices;
};

/// While it lives, the device is this thread's current one.
class Entered {
public:
  Entered() : driver(Driver::get()) { driver.enter(); }
  ~Entered() { driver.leave(); }
  const Driver *operator->() const { return &driver; }

private:
  Driver &driver;
};
} // namespace

thread_local int Driver::ordinal = 0;

DriverLibrary Driver::open() {
  auto text = [](const char *name) -> StringRef {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  StringRef kind = text("EVOFORMER_GPU"), path = text("EVOFORMER_GPU_DRIVER");
  if (!kind.empty() && kind != "cuda" && kind != "hip")
    fail("EVOFORMER_GPU is '" + kind + "'; it is cuda or hip");
  std::string problems;
  for (DriverVendor vendor : {DriverVendor::NVIDIA, DriverVendor::AMD}) {
    if (!kind.empty() && (kind == "cuda") != (vendor == DriverVendor::NVIDIA))
      continue;
    Expected<DriverLibrary> library = DriverLibrary::open(vendor, path);
    if (!library) {
      problems +=
          (problems.empty() ? "" : "; ") + toString(library.takeError());
      continue;
    }
    ::check(library->checkStreamFunctions());
    return *library;
  }
  fail(problems);
}

void Driver::setDevice(int number) {
  int count = 0;
  check(library.call.getDeviceCount(&count), "counting devices");
  if (number < 0 || number >= count)
    fail("device " + Twine(number) + " of " + Twine(count) + " does not exist");
  ordinal = number;
}

DriverHandle Driver::getContext() {
  std::lock_guard<std::mutex> lock(mutex);
  DriverHandle &context = contexts[ordinal];
  if (!context) {
    int device = 0;
    check(library.call.getDevice(&device, ordinal), "taking the device");
    check(library.call.retainContext(&context, device),
          "taking the device's context");
  }
  return context;
}

void Driver::enter() {
  if (isNVIDIA())
    return check(library.call.pushContext(getContext()),
                 "entering the context");
  check(library.call.setDevice(ordinal), "setting the device");
}

void Driver::leave() {
  DriverHandle popped = nullptr;
  if (isNVIDIA())
    check(library.call.popContext(&popped), "leaving the context");
}

DriverHandle Driver::takeStream() {
  int device = ordinal;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (SmallVector<DriverHandle> &known = idle[device]; !known.empty())
      return known.pop_back_val();
  }
  Entered entered;
  DriverHandle stream = nullptr;
  check(library.call.createStream(&stream, 0), "making a stream");
  std::lock_guard<std::mutex> lock(mutex);
  devices[stream] = device;
  return stream;
}

void Driver::giveStream(DriverHandle stream) {
  std::lock_guard<std::mutex> lock(mutex);
  idle[devices.lookup(stream)].push_back(stream);
}

namespace {
/// A program's kernels. Programs hand them over while they are loaded, when a
/// driver must not be asked yet: it may start threads. So that waits for the
/// first kernel, and is done once for each device.
class Module {
public:
  explicit Module(StringRef code) : code(code) {}
  ~Module() {
    // Called as the process ends, when the driver may be gone already: what
    // fails no longer matters.
    for (auto &[device, loaded] : devices)
      Driver::get().call().unloadModule(loaded.handle);
  }

  DriverHandle getFunction(StringRef name);

private:
  struct Loaded {
    DriverHandle handle = nullptr;
    StringMap<DriverHandle> functions;
  };

  /// The program's own memory.
  StringRef code;
  std::mutex mutex;
  DenseMap<int, Loaded> devices;
};
} // namespace

DriverHandle Module::getFunction(StringRef name) {
  Entered driver;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] = devices.try_emplace(driver->getDevice());
  Loaded &loaded = it->second;
  if (isNew) {
    Expected<DriverHandle> handle = driver->getLibrary().loadModule(
        code.str(), "loading the program's kernels");
    if (!handle)
      fail(toString(handle.takeError()));
    loaded.handle = *handle;
  }
  DriverHandle &function = loaded.functions[name];
  if (!function)
    driver->check(driver->call().getFunction(&function, loaded.handle,
                                             name.str().c_str()),
                  "finding kernel '" + Twine(name) + "'");
  return function;
}

static uint64_t address(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

//===----------------------------------------------------------------------===//
// Upstream's names
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(readability-identifier-naming)
#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void mgpuSetDefaultDevice(int32_t device) {
  Driver::get().setDevice(device);
}

EXPORT Module *mgpuModuleLoad(void *code, size_t bytes) {
  return new Module(StringRef(static_cast<const char *>(code), bytes));
}
/// Of assembly, which a zero ends.
EXPORT Module *mgpuModuleLoadJIT(void *code, int /*optimization*/) {
  return new Module(static_cast<const char *>(code));
}
EXPORT void mgpuModuleUnload(Module *module) { delete module; }
EXPORT DriverHandle mgpuModuleGetFunction(Module *module, const char *name) {
  return module->getFunction(name);
}

EXPORT void mgpuLaunchKernel(DriverHandle function, intptr_t gridX,
                             intptr_t gridY, intptr_t gridZ, intptr_t blockX,
                             intptr_t blockY, intptr_t blockZ, int32_t shared,
                             DriverHandle stream, void **params, void **extra,
                             size_t /*paramsCount*/) {
  Entered driver;
  for (intptr_t extent : {gridX, gridY, gridZ})
    if (extent > INT32_MAX)
      fail("a grid of " + Twine(extent) + " workgroups exceeds the limit of " +
           Twine(INT32_MAX));
  check(driver->getLibrary().reserveSharedMemory(function, shared));
  driver->check(driver->call().launch(function, gridX, gridY, gridZ, blockX,
                                      blockY, blockZ, shared, stream, params,
                                      extra),
                "launching a kernel");
}

EXPORT DriverHandle mgpuStreamCreate() { return Driver::get().takeStream(); }
EXPORT void mgpuStreamDestroy(DriverHandle stream) {
  Driver::get().giveStream(stream);
}
EXPORT void mgpuStreamSynchronize(DriverHandle stream) {
  Entered driver;
  driver->check(driver->call().synchronizeStream(stream), "running kernels");
}
EXPORT void mgpuStreamWaitEvent(DriverHandle stream, DriverHandle event) {
  Entered driver;
  driver->check(driver->call().awaitEvent(stream, event, 0),
                "waiting for an event");
}

EXPORT DriverHandle mgpuEventCreate() {
  // Without times (CU_EVENT_DISABLE_TIMING, hipEventDisableTiming).
  constexpr unsigned disableTiming = 2;
  Entered driver;
  DriverHandle event = nullptr;
  driver->check(driver->call().createEvent(&event, disableTiming),
                "making an event");
  return event;
}
EXPORT void mgpuEventDestroy(DriverHandle event) {
  Entered driver;
  driver->check(driver->call().destroyEvent(event), "destroying an event");
}
EXPORT void mgpuEventRecord(DriverHandle event, DriverHandle stream) {
  Entered driver;
  driver->check(driver->call().recordEvent(event, stream),
                "recording an event");
}
EXPORT void mgpuEventSynchronize(DriverHandle event) {
  Entered driver;
  driver->check(driver->call().synchronizeEvent(event), "running kernels");
}

EXPORT void *mgpuMemAlloc(uint64_t bytes, DriverHandle /*stream*/,
                          bool isHostShared) {
  // Global (CU_MEM_ATTACH_GLOBAL, hipMemAttachGlobal).
  constexpr unsigned anyStream = 1;
  Entered driver;
  uint64_t result = 0;
  bytes = std::max<uint64_t>(bytes, 1);
  driver->check(isHostShared
                    ? driver->call().allocateManaged(&result, bytes, anyStream)
                    : driver->call().malloc(&result, bytes),
                "allocating " + Twine(bytes) + " bytes on the device");
  return reinterpret_cast<void *>( // NOLINT(performance-no-int-to-ptr)
      static_cast<uintptr_t>(result));
}
EXPORT void mgpuMemFree(void *pointer, DriverHandle stream) {
  Entered driver;
  if (stream)
    driver->check(driver->call().synchronizeStream(stream), "running kernels");
  driver->check(driver->call().free(address(pointer)), "releasing memory");
}
EXPORT void mgpuMemcpy(void *to, void *from, size_t bytes,
                       DriverHandle stream) {
  if (bytes == 0)
    return;
  Entered driver;
  driver->check(
      driver->getLibrary().copy(address(to), address(from), bytes, stream),
      "copying memory");
}
EXPORT void mgpuMemset32(void *to, unsigned value, size_t count,
                         DriverHandle stream) {
  if (count == 0)
    return;
  Entered driver;
  driver->check(driver->call().fill32(address(to), value, count, stream),
                "filling memory");
}
EXPORT void mgpuMemset16(void *to, unsigned short value, size_t count,
                         DriverHandle stream) {
  if (count == 0)
    return;
  Entered driver;
  driver->check(driver->call().fill16(address(to), value, count, stream),
                "filling memory");
}

/// What `gpu.host_register` passes: a descriptor whose rank is known only here.
static MutableArrayRef<char> getHostMemory(int64_t rank, void *descriptor,
                                           int64_t elementBytes) {
  // Two pointers, then the offset, sizes and strides.
  char *aligned = static_cast<char **>(descriptor)[1];
  ArrayRef<int64_t> numbers(static_cast<int64_t *>(descriptor) + 2,
                            1 + 2 * rank);
  ArrayRef<int64_t> sizes = numbers.slice(1, rank),
                    strides = numbers.slice(1 + rank);
  int64_t elements = 1;
  for (auto [size, stride] : zip_equal(sizes, strides)) {
    if (size == 0)
      return {};
    if (stride < 0)
      fail("memory with negative strides cannot be registered");
    elements += (size - 1) * stride;
  }
  return {aligned + numbers[0] * elementBytes,
          static_cast<size_t>(elements * elementBytes)};
}
EXPORT void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                      int64_t elementBytes) {
  Entered driver;
  MutableArrayRef<char> memory = getHostMemory(rank, descriptor, elementBytes);
  if (!memory.empty())
    driver->check(driver->call().registerHost(memory.data(), memory.size(), 0),
                  "registering memory of the host");
}
EXPORT void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor,
                                        int64_t elementBytes) {
  Entered driver;
  MutableArrayRef<char> memory = getHostMemory(rank, descriptor, elementBytes);
  if (!memory.empty())
    driver->check(driver->call().unregisterHost(memory.data()),
                  "unregistering memory of the host");
}
// NOLINTEND(readability-identifier-naming)
