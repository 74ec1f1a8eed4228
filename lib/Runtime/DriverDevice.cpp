//===- DriverDevice.cpp - Kernels through a GPU's driver ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverLinker.h"
#include "Evoformer/Runtime/Device.h"
#include "Evoformer/Runtime/DriverLibrary.h"
#include "LoadModules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"
#include <cstring>

using namespace llvm;

namespace mlir::evoformer::runtime {

namespace {
using Handle = DriverHandle;

struct DriverModule {
  DriverModule(const DriverLibrary &library, Handle handle)
      : library(library), handle(handle) {}
  // A failing unload leaves nothing to do.
  ~DriverModule() { library.call.unloadModule(handle); }
  const DriverLibrary &library;
  Handle handle;
};

struct DriverKernel : LoadedKernel {
  DriverKernel(const KernelInfo &info, std::shared_ptr<DriverModule> module,
               Handle function)
      : LoadedKernel(info), module(std::move(module)), function(function) {}
  std::shared_ptr<DriverModule> module;
  Handle function;
};

/// A tensor map as the driver writes it.
struct EncodedMap {
  alignas(tensorMapAlignment) char bytes[tensorMapBytes];
};

class DriverDevice : public Device {
public:
  DriverDevice(DriverLibrary library, std::unique_ptr<CodeStore> store)
      : library(std::move(library)), call(this->library.call),
        store(std::move(store)) {}
  ~DriverDevice() override;

  Error initialize(int ordinal);

  StringRef getKind() const override {
    return library.vendor == DriverVendor::NVIDIA ? "cuda" : "hip";
  }
  std::string getDescription() const override { return name; }
  std::string getChip() const override { return chip; }
  void setStream(void *handle) override {
    stream = handle;
    followsOwn = false;
  }
  Error enter() override;
  void leave() override;

  Expected<uint64_t> allocate(uint64_t bytes) override;
  Error release(uint64_t address) override {
    return library.check(call.free(address), "releasing memory");
  }
  Error copyIn(uint64_t to, ArrayRef<char> from) override {
    if (from.empty())
      return Error::success();
    return library.check(call.copyIn(to, from.data(), from.size()),
                         "copying to the device" + afterKernel());
  }
  Error copyOut(MutableArrayRef<char> to, uint64_t from) override {
    if (to.empty())
      return Error::success();
    return library.check(call.copyOut(to.data(), from, to.size()),
                         "copying from the device" + afterKernel());
  }
  Expected<std::unique_ptr<LoadedKernel>> load(const KernelInfo &info) override;
  Expected<std::vector<std::unique_ptr<LoadedKernel>>>
  loadAll(ArrayRef<const KernelInfo *> infos) override;
  void prepare(StringRef format, StringRef contents) override;
  Error launch(LoadedKernel &kernel, uint64_t workItems,
               ArrayRef<LaunchArgument> arguments) override;
  Error synchronize() override {
    return library.check(call.synchronize(), "running" + afterKernel());
  }
  Error startTimer() override {
    followsOwn = false;
    return library.check(call.recordEvent(startEvent, nullptr),
                         "recording a time");
  }
  Expected<double> stopTimer() override;
  Error flushCaches() override;

private:
  Expected<std::shared_ptr<DriverModule>> loadModule(const KernelInfo &info);
  Error encode(const KernelInfo &info, const TensorMap &map,
               EncodedMap &encoded);
  /// Launches with the kernel's arguments, one by one or packed.
  int launch(const DriverKernel &kernel, uint64_t workItems, void **single,
             void **packed);
  /// Null where it does not load.
  std::shared_ptr<DriverModule> loadLinked(StringRef ptx);
  /// Errors of asynchronous launches appear later: names the last one.
  std::string afterKernel() const {
    return lastKernel.empty() ? "" : " (after kernel '" + lastKernel + "')";
  }

  DriverLibrary library;
  const DriverFunctions &call;
  void findChip(int device);

  std::string name, chip, lastKernel;
  /// Whether kernels may start before the one before ends, and whether that is
  /// a launch of this device's, since `stream` was set or a time was taken.
  bool mayStartEarly = false, followsOwn = false;
  Handle context = nullptr, stream = nullptr;
  int ordinal = 0;
  /// HIP has no stack of devices.
  SmallVector<int, 2> previousDevices;
  Handle startEvent = nullptr, stopEvent = nullptr;
  uint64_t flushBuffer = 0;
  std::unique_ptr<CodeStore> store;
  /// Null for HIP.
  std::unique_ptr<DriverLinker> linker;
  ModuleMap<DriverModule> modules;
};
} // namespace

/// What the code is compiled for. NVIDIA numbers it (CUDA Driver API, "Device
/// Management", compute capability), AMD's properties hold it as text, with
/// features behind a colon (`gfx942:sramecc+:xnack-`).
void DriverDevice::findChip(int device) {
  if (library.vendor == DriverVendor::NVIDIA) {
    constexpr int majorAttribute = 75, minorAttribute = 76;
    int major = 0, minor = 0;
    if (call.getAttribute(&major, majorAttribute, device) == 0 &&
        call.getAttribute(&minor, minorAttribute, device) == 0)
      chip = ("sm_" + Twine(major) + Twine(minor)).str();
    return;
  }
  // The structure is about 1.5 KiB and holds one such text, whose place has
  // moved before; a marketing name comes first.
  std::vector<char> properties(16 * 1024);
  if (!call.getProperties ||
      call.getProperties(properties.data(), ordinal) != 0)
    return;
  StringRef text(properties.data(), properties.size());
  size_t begin = text.find("gfx", 256);
  if (begin != StringRef::npos)
    chip =
        text.substr(begin).take_while([](char c) { return isAlnum(c); }).str();
}

Error DriverDevice::enter() {
  if (library.vendor == DriverVendor::NVIDIA)
    return library.check(call.pushContext(context), "entering the context");
  int previous = 0;
  if (Error error = library.check(call.currentDevice(&previous),
                                  "asking for the current device"))
    return error;
  if (Error error =
          library.check(call.setDevice(ordinal), "setting the device"))
    return error;
  previousDevices.push_back(previous);
  return Error::success();
}

void DriverDevice::leave() {
  // Nothing is left to do where this fails.
  if (library.vendor == DriverVendor::NVIDIA) {
    Handle popped = nullptr;
    call.popContext(&popped);
  } else if (!previousDevices.empty()) {
    call.setDevice(previousDevices.pop_back_val());
  }
}

Error DriverDevice::initialize(int ordinal) {
  if (Error error = library.check(call.init(0), "starting the driver"))
    return error;
  int count = 0, device = 0;
  if (Error error =
          library.check(call.getDeviceCount(&count), "counting devices"))
    return error;
  if (ordinal < 0 || ordinal >= count)
    return createStringError("device " + Twine(ordinal) + " of " +
                             Twine(count) + " does not exist");
  if (Error error =
          library.check(call.getDevice(&device, ordinal), "taking the device"))
    return error;
  char buffer[256] = {};
  if (Error error =
          library.check(call.getDeviceName(buffer, sizeof(buffer) - 1, device),
                        "naming the device"))
    return error;
  name = buffer;
  this->ordinal = ordinal;
  findChip(device);
  if (library.vendor == DriverVendor::NVIDIA)
    if (Error error = library.check(call.retainContext(&context, device),
                                    "taking the device's context"))
      return error;
  if (library.vendor == DriverVendor::NVIDIA) {
    int version = 0;
    if (call.getVersion)
      call.getVersion(&version);
    // The first that captures such launches in graphs.
    constexpr int kLeastVersion = 12030;
    mayStartEarly = call.launchExtended && version >= kLeastVersion;
    linker = std::make_unique<DriverLinker>(
        library.handle, (chip + " by driver " + Twine(version)).str(),
        std::move(store));
  }
  if (Error error = enter())
    return error;
  for (Handle *event : {&startEvent, &stopEvent})
    if (Error error =
            library.check(call.createEvent(event, 0), "creating an event"))
      return error;
  return Error::success();
}

DriverDevice::~DriverDevice() {
  // What fails here no longer matters.
  if (flushBuffer)
    call.free(flushBuffer);
  for (Handle event : {startEvent, stopEvent})
    if (event)
      call.destroyEvent(event);
}

Expected<uint64_t> DriverDevice::allocate(uint64_t bytes) {
  uint64_t address = 0;
  if (Error error =
          library.check(call.malloc(&address, std::max<uint64_t>(bytes, 1)),
                        "allocating " + Twine(bytes) + " bytes on the device"))
    return error;
  return address;
}

std::shared_ptr<DriverModule> DriverDevice::loadLinked(StringRef ptx) {
  // Stored code may be broken.
  for (bool anew : {false, true}) {
    std::optional<std::string> code =
        anew ? linker->getAnew(ptx) : linker->get(ptx);
    if (!code)
      return nullptr;
    Handle handle = nullptr;
    if (call.loadModule(&handle, code->data(), 0, nullptr, nullptr) == 0)
      return std::make_shared<DriverModule>(library, handle);
  }
  return nullptr;
}

void DriverDevice::prepare(StringRef format, StringRef contents) {
  if (!linker || format != "ptx" || call.pushContext(context) != 0)
    return;
  linker->prepare(contents);
  Handle popped = nullptr;
  call.popContext(&popped);
}

/// Whether AMD's code for a target may run on a chip: it is for that one, or
/// for a family ("User Guide for AMDGPU Backend", "Generic Processors"). Of
/// NVIDIA's the driver knows.
static bool mayRun(StringRef target, StringRef chip) {
  if (chip.empty() || target == chip || !target.starts_with("gfx"))
    return true;
  ArrayRef<StringRef> family;
  static constexpr StringRef cdna[] = {"gfx942", "gfx950"};
  static constexpr StringRef rdna3[] = {"gfx1100", "gfx1101", "gfx1102",
                                        "gfx1103", "gfx1150", "gfx1151",
                                        "gfx1152", "gfx1153"};
  static constexpr StringRef rdna4[] = {"gfx1200", "gfx1201"};
  family = StringSwitch<ArrayRef<StringRef>>(target)
               .Case("gfx9-4-generic", cdna)
               .Case("gfx11-generic", rdna3)
               .Case("gfx12-generic", rdna4)
               .Default({});
  return is_contained(family, chip);
}

Expected<std::shared_ptr<DriverModule>>
DriverDevice::loadModule(const KernelInfo &info) {
  const KernelObject &object = *info.object;
  bool isNVIDIA = library.vendor == DriverVendor::NVIDIA;
  bool fits = isNVIDIA ? object.format == "ptx" || object.format == "cubin"
                       : object.format == "hsaco";
  if (!fits)
    return createStringError(
        Twine(isNVIDIA ? "CUDA takes ptx or cubin" : "HIP takes hsaco") +
        ", not '" + object.format + "' for " + object.target);
  if (!mayRun(object.target, chip))
    return createStringError("the code is for " + object.target +
                             ", the device is a " + chip + " (" + name + ")");

  if (object.format == "ptx")
    if (std::shared_ptr<DriverModule> module = loadLinked(object.contents))
      return module;
  // PTX that does not link: the log says what is wrong.
  Expected<Handle> handle = library.loadModule(
      object.contents,
      "loading the " + object.format + " for " + object.target + " on " + name);
  if (!handle)
    return handle.takeError();
  return std::make_shared<DriverModule>(library, *handle);
}

Expected<std::vector<std::unique_ptr<LoadedKernel>>>
DriverDevice::loadAll(ArrayRef<const KernelInfo *> infos) {
  // NVIDIA's driver compiles PTX here. A context may be current in several
  // threads (CUDA Driver API, "Context Management").
  bool isNVIDIA = library.vendor == DriverVendor::NVIDIA;
  unsigned numThreads =
      isNVIDIA ? hardware_concurrency().compute_thread_count() : 1;
  auto kept = loadModules(
      infos, numThreads, modules,
      [&](const KernelInfo &info) -> Expected<std::shared_ptr<DriverModule>> {
        if (isNVIDIA)
          if (Error error = library.check(call.pushContext(context),
                                          "entering the context"))
            return error;
        auto module = loadModule(info);
        Handle popped = nullptr;
        if (isNVIDIA)
          call.popContext(&popped);
        return module;
      });
  if (!kept)
    return kept.takeError();
  return Device::loadAll(infos);
}

Expected<std::unique_ptr<LoadedKernel>>
DriverDevice::load(const KernelInfo &info) {
  auto inKernel = [&](Error error) {
    return createStringError("kernel '" + info.name +
                             "': " + toString(std::move(error)));
  };
  auto kept = loadModules({&info}, 1, modules, [&](const KernelInfo &info) {
    return loadModule(info);
  });
  if (!kept)
    return kept.takeError();
  std::shared_ptr<DriverModule> module = kept->front();
  Handle function = nullptr;
  if (Error error = library.check(
          call.getFunction(&function, module->handle, info.symbol.c_str()),
          "finding '" + info.symbol + "'"))
    return inKernel(std::move(error));
  if (Error error = library.reserveSharedMemory(function, info.ldsBytes))
    return inKernel(std::move(error));
  return std::make_unique<DriverKernel>(info, std::move(module), function);
}

/// What the driver makes of a tensor map ("CUDA Driver API",
/// cuTensorMapEncodeTiled), which counts dimensions from the fastest on.
Error DriverDevice::encode(const KernelInfo &info, const TensorMap &map,
                           EncodedMap &encoded) {
  if (!call.encodeTensorMap)
    return createStringError("kernel '" + info.name +
                             "': the driver has no tensor maps "
                             "(cuTensorMapEncodeTiled, CUDA 12); compile for "
                             "sm_80, whose kernels need none");
  if (Error error = checkTensorMap(map))
    return createStringError("kernel '" + info.name +
                             "': " + toString(std::move(error)));
  // CU_TENSOR_MAP_DATA_TYPE_UINT16 and _UINT32; CU_TENSOR_MAP_SWIZZLE_NONE to
  // _128B; CU_TENSOR_MAP_L2_PROMOTION_L2_128B.
  int type = map.elementBytes == 2 ? 1 : 2, promotion = 2;
  int swizzle = map.swizzle ? static_cast<int>(Log2_32(map.swizzle)) - 4 : 0;
  uint32_t steps[maxTensorMapRank] = {1, 1, 1, 1, 1};
  int code = call.encodeTensorMap(
      encoded.bytes, type, map.box.size(), map.address, map.sizes.data(),
      map.strides.data() + 1, map.box.data(), steps, /*interleave=*/0, swizzle,
      promotion, /*fill=*/0);
  if (code != 0) {
    std::string what;
    for (auto [size, stride] : zip(map.sizes, map.strides))
      what += (what.empty() ? "" : ", ") + std::to_string(size) + " elements " +
              std::to_string(stride) + " bytes apart";
    return library.check(code, "kernel '" + info.name +
                                   "': describing memory of " + what);
  }
  return Error::success();
}

int DriverDevice::launch(const DriverKernel &kernel, uint64_t workItems,
                         void **single, void **packed) {
  const KernelInfo &info = kernel.info;
  // Behind what others launched it starts as ever.
  bool startsEarly = mayStartEarly && followsOwn && info.startsEarly;
  if (!startsEarly)
    return call.launch(kernel.function, workItems, 1, 1, info.threads, 1, 1,
                       info.ldsBytes, stream, single, packed);
  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
  CUDALaunchAttribute attribute = {};
  attribute.id = 6;
  attribute.value.flag = 1;
  CUDALaunch config = {{static_cast<uint32_t>(workItems), 1, 1},
                       {info.threads, 1, 1},
                       static_cast<uint32_t>(info.ldsBytes),
                       stream,
                       &attribute,
                       1};
  return call.launchExtended(&config, kernel.function, single, packed);
}

Error DriverDevice::launch(LoadedKernel &kernel, uint64_t workItems,
                           ArrayRef<LaunchArgument> arguments) {
  const KernelInfo &info = kernel.info;
  // CUDA bounds the grid, HIP the grid's threads (32 bits each).
  uint64_t limit = library.vendor == DriverVendor::NVIDIA
                       ? INT32_MAX
                       : UINT32_MAX / uint64_t(info.threads);
  if (workItems > limit)
    return createStringError("kernel '" + info.name + "': " + Twine(workItems) +
                             " work items exceed the grid's limit of " +
                             Twine(limit));
  // Both drivers take the arguments packed as a C struct.
  SmallVector<char, 256> packed;
  for (const LaunchArgument &argument : arguments) {
    packed.resize(alignTo(packed.size(), argument.bytes));
    const char *bytes = reinterpret_cast<const char *>(&argument.bits);
    packed.append(bytes, bytes + argument.bytes);
  }
  size_t packedBytes = packed.size();
  // Tags of the list, then its end (CU_LAUNCH_PARAM_*, HIP_LAUNCH_PARAM_*).
  auto tag = [](uintptr_t value) {
    return reinterpret_cast<void *>(value); // NOLINT(performance-no-int-to-ptr)
  };
  void *extra[] = {tag(1), packed.data(), tag(2), &packedBytes,
                   tag(library.vendor == DriverVendor::NVIDIA ? 0 : 3)};
  // Where tensor maps lie only the driver knows: it aligns them where kernels
  // find them, not within the struct.
  SmallVector<EncodedMap, 4> maps;
  for (const TensorMap &map : makeTensorMaps(info, arguments))
    if (Error error = encode(info, map, maps.emplace_back()))
      return error;
  SmallVector<void *, 64> single;
  if (!maps.empty()) {
    for (const LaunchArgument &argument : arguments)
      single.push_back(const_cast<uint64_t *>(&argument.bits));
    for (EncodedMap &map : maps)
      single.push_back(map.bytes);
  }
  int code = launch(static_cast<DriverKernel &>(kernel), workItems,
                    maps.empty() ? nullptr : single.data(),
                    maps.empty() ? extra : nullptr);
  lastKernel = info.name;
  followsOwn = code == 0;
  return library.check(code, "launching kernel '" + info.name + "' with " +
                                 Twine(workItems) + " workgroups of " +
                                 Twine(info.threads) + " threads and " +
                                 Twine(info.ldsBytes) + " bytes of LDS");
}

Expected<double> DriverDevice::stopTimer() {
  float milliseconds = 0;
  if (Error error = library.check(call.recordEvent(stopEvent, nullptr),
                                  "recording a time"))
    return error;
  if (Error error = library.check(call.synchronizeEvent(stopEvent),
                                  "running" + afterKernel()))
    return error;
  if (Error error = library.check(
          call.elapsed(&milliseconds, startEvent, stopEvent), "reading a time"))
    return error;
  return milliseconds;
}

Error DriverDevice::flushCaches() {
  // Larger than any L2 or Infinity Cache (256 MiB on MI300X).
  constexpr uint64_t flushBytes = uint64_t(512) << 20;
  if (!flushBuffer) {
    Expected<uint64_t> address = allocate(flushBytes);
    if (!address)
      return address.takeError();
    flushBuffer = *address;
  }
  return library.check(call.fill(flushBuffer, 0, flushBytes),
                       "flushing the caches" + afterKernel());
}

static Expected<std::unique_ptr<Device>>
create(DriverVendor vendor, int ordinal, StringRef name,
       std::unique_ptr<CodeStore> store) {
  Expected<DriverLibrary> library = DriverLibrary::open(vendor, name);
  if (!library)
    return library.takeError();
  auto device =
      std::make_unique<DriverDevice>(std::move(*library), std::move(store));
  if (Error error = device->initialize(ordinal))
    return error;
  return device;
}

Expected<std::unique_ptr<Device>>
createCUDADevice(int ordinal, StringRef library,
                 std::unique_ptr<CodeStore> store) {
  return create(DriverVendor::NVIDIA, ordinal, library, std::move(store));
}

Expected<std::unique_ptr<Device>> createHIPDevice(int ordinal,
                                                  StringRef library) {
  return create(DriverVendor::AMD, ordinal, library, {});
}

} // namespace mlir::evoformer::runtime
