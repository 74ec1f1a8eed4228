//===- DriverDeviceTest.cpp - The GPU loaders against a stand-in ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Session.h"
#include "TestPlans.h"
#include "llvm/Support/DynamicLibrary.h"
#include "gtest/gtest.h"
#include <functional>

using namespace llvm;
using namespace mlir::evoformer::runtime;

namespace {
enum class Driver { CUDA, HIP };

class DriverDevices : public testing::TestWithParam<Driver> {
protected:
  void SetUp() override {
    std::string problem;
    library = sys::DynamicLibrary::getPermanentLibrary(getPath(), &problem);
    ASSERT_TRUE(library.isValid()) << problem;
    function<void()>("standInReset")();
  }

  bool isCUDA() const { return GetParam() == Driver::CUDA; }
  const char *getPath() const {
    return isCUDA() ? STAND_IN_CUDA : STAND_IN_HIP;
  }
  StringRef getFormat() const { return isCUDA() ? "ptx" : "hsaco"; }
  template <typename T> T *function(const char *name) {
    return reinterpret_cast<T *>(library.getAddressOfSymbol(name));
  }
  void fail(const char *name, int code) {
    function<void(const char *, int)>("standInFail")(name, code);
  }
  std::string getRecording() {
    return function<const char *()>("standInRecording")();
  }
  Expected<std::unique_ptr<Device>> create(int ordinal = 0) {
    return isCUDA() ? createCUDADevice(ordinal, getPath())
                    : createHIPDevice(ordinal, getPath());
  }

  sys::DynamicLibrary library;
};

#define EXPECT_CONTAINS(TEXT, PART)                                            \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)

TEST_P(DriverDevices, PacksArgumentsAndLaunches) {
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  EXPECT_EQ((*device)->getDescription(), "stand-in");
  Expected<Plan> plan = parsePlan(iotaText(getFormat(), "iota", 65536), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  {
    Session session(*plan, **device);
    DeviceBuffer buffer =
        cantFail(DeviceBuffer::create(**device, "x", 10 * 8, 256));
    uint64_t address = buffer.getAddress();
    HostValue arguments[2];
    arguments[0].memref = {address, address, 1, {9}, {1}};
    arguments[1].bits = -3;
    Workspace none(0, 0);
    cantFail((*device)->startTimer());
    auto results = session.run(plan->functions[0], arguments, none);
    ASSERT_TRUE(bool(results)) << toString(results.takeError());
    EXPECT_EQ(cantFail((*device)->stopTimer()), 1.5);
    std::vector<int64_t> data(10);
    cantFail(buffer.read({reinterpret_cast<char *>(data.data()), 80}));
    EXPECT_EQ(data[0], -1);
    for (int64_t i = 0; i < 9; ++i)
      EXPECT_EQ(data[i + 1], i - 3);
    EXPECT_EQ(toString(buffer.checkGuards()), "");
    EXPECT_CONTAINS(getRecording(),
                    "launch(grid 9,1,1 block 64,1,1 lds 65536 bytes 56)");
    if (isCUDA())
      EXPECT_CONTAINS(getRecording(), "setFunctionAttribute(8 = 65536)");
    // An empty space launches nothing.
    std::string before = getRecording();
    arguments[0].memref.sizes[0] = 0;
    cantFail(session.run(plan->functions[0], arguments, none).takeError());
    EXPECT_EQ(getRecording(), before);
  }
  EXPECT_CONTAINS(getRecording(), "unloadModule");
}

TEST_P(DriverDevices, DescribesMemoryToKernels) {
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  Expected<Plan> plan = parsePlan(iotaText(getFormat(), "iota", 0), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  // The memref, of which the fourth argument is the size; it ends before that.
  TensorMapArgument map;
  map.elementBytes = 4;
  map.swizzle = 64;
  map.box = {16};
  map.endSlots = {-1};
  map.ends = {7};
  ASSERT_TRUE(map.isValidFor(plan->kernels[0].argumentBytes.size()));
  plan->kernels[0].tensorMaps = {map};
  Session session(*plan, **device);
  DeviceBuffer buffer =
      cantFail(DeviceBuffer::create(**device, "x", 12 * 8, 256));
  uint64_t address = buffer.getAddress();
  HostValue arguments[2];
  arguments[0].memref = {address, address, 4, {8}, {1}};
  arguments[1].bits = 5;
  Workspace none(0, 0);
  auto run = [&] {
    return session.run(plan->functions[0], arguments, none).takeError();
  };
  if (!isCUDA()) {
    EXPECT_EQ(toString(run()),
              "function 'f': kernel 'iota': the driver has no tensor maps "
              "(cuTensorMapEncodeTiled, CUDA 12); compile for sm_80, whose "
              "kernels need none");
    return;
  }
  EXPECT_EQ(toString(run()), "");
  std::vector<int64_t> data(12);
  cantFail(buffer.read({reinterpret_cast<char *>(data.data()), 96}));
  EXPECT_EQ(data[4], 5);
  EXPECT_EQ(data[11], 12);
  EXPECT_CONTAINS(getRecording(), "map(type 2 sizes 7 strides  box 16 steps 1 "
                                  "swizzle 2 fill 0)");
  fail("encodeTensorMap", 1);
  std::string message = toString(run());
  EXPECT_CONTAINS(message, "kernel 'iota': describing memory of 7 elements 4 "
                           "bytes apart");
  arguments[0].memref.offset = 1;
  message = toString(run());
  EXPECT_CONTAINS(message, "kernel 'iota': a tensor map needs an address");
}

namespace {
/// Launches of `iota` as a kernel that may start early.
class EarlyLaunches {
public:
  EarlyLaunches(std::unique_ptr<Device> made, StringRef format)
      : device(std::move(made)),
        plan(cantFail(parsePlan(iotaText(format, "iota", 0), "."))),
        session(plan, *device),
        buffer(cantFail(DeviceBuffer::create(*device, "x", 4 * 8, 256))) {
    uint64_t address = buffer.getAddress();
    arguments[0].memref = {address, address, 0, {4}, {1}};
    EXPECT_FALSE(plan.kernels[0].startsEarly);
    plan.kernels[0].startsEarly = true;
  }

  void run() {
    Workspace none(0, 0);
    cantFail(session.run(plan.functions[0], arguments, none).takeError());
  }

  std::unique_ptr<Device> device;
  Plan plan;

private:
  Session session;
  DeviceBuffer buffer;
  HostValue arguments[2];
};
} // namespace

TEST_P(DriverDevices, StartsKernelsEarlyBehindItsOwn) {
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  EarlyLaunches launches(std::move(*device), getFormat());
  // The attribute and its value where a launch has it.
  auto run = [&]() -> std::string {
    function<void()>("standInReset")();
    launches.run();
    StringRef text = function<const char *()>("standInRecording")();
    size_t begin = text.find("attribute(");
    return begin == StringRef::npos
               ? ""
               : text.substr(begin)
                     .take_until([](char c) { return c == ')'; })
                     .str();
  };
  std::string early = isCUDA() ? "attribute(6 = 1" : "";
  EXPECT_EQ(run(), "");
  EXPECT_EQ(run(), early);
  EXPECT_EQ(run(), early);
  // Whatever is there on another stream, or between.
  launches.device->setStream(nullptr);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(run(), early);
  cantFail(launches.device->startTimer());
  EXPECT_EQ(run(), "");
  EXPECT_EQ(run(), early);
  launches.plan.kernels[0].startsEarly = false;
  EXPECT_EQ(run(), "");
}

/// Before CUDA 12.3 graphs did not take launches that start early.
TEST_P(DriverDevices, LaunchesAsEverWithOldDrivers) {
  function<void(int)>("standInVersion")(12020);
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  EarlyLaunches launches(std::move(*device), getFormat());
  launches.run();
  launches.run();
  EXPECT_CONTAINS(getRecording(), "launch(");
  EXPECT_EQ(getRecording().find("attribute("), std::string::npos);
}

TEST_P(DriverDevices, NamesTheDriversErrors) {
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  fail("malloc", 2);
  EXPECT_EQ(toString((*device)->allocate(1000).takeError()),
            "allocating 1000 bytes on the device: ERROR_OUT_OF_MEMORY (2): "
            "described");
  fail("launch", 7);
  Expected<Plan> plan = parsePlan(iotaText(getFormat(), "iota", 5), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  Session session(*plan, **device);
  HostValue arguments[2];
  arguments[0].memref = {0, 0, 0, {3}, {1}};
  Workspace none(0, 0);
  EXPECT_CONTAINS(
      toString(session.run(plan->functions[0], arguments, none).takeError()),
      "launching kernel 'iota' with 3 workgroups of 64 threads and 5 bytes of "
      "LDS: ERROR_OTHER (7)");
  fail("synchronize", 7);
  EXPECT_CONTAINS(toString((*device)->synchronize()),
                  "running (after kernel 'iota'): ERROR_OTHER");
  // One workgroup more than the grid can hold.
  int64_t limit = isCUDA() ? INT32_MAX : UINT32_MAX / 64;
  arguments[0].memref.sizes[0] = limit + 1;
  EXPECT_CONTAINS(
      toString(session.run(plan->functions[0], arguments, none).takeError()),
      "work items exceed the grid's limit of ");
}

TEST_P(DriverDevices, ReportsWhatCannotBeLoaded) {
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  auto problem = [&](StringRef format, StringRef text, StringRef symbol) {
    std::string json = iotaText(format, text);
    StringRef before = "\"symbol\": \"iota\"";
    json.replace(json.find(before), before.size(),
                 "\"symbol\": \"" + symbol.str() + "\"");
    Plan plan = cantFail(parsePlan(json, "."));
    auto kernel = (*device)->load(plan.kernels[0]);
    return kernel ? "" : toString(kernel.takeError());
  };
  EXPECT_EQ(problem(getFormat(), "iota", "iota"), "");
  EXPECT_CONTAINS(problem(getFormat(), "iota", "other"),
                  "kernel 'iota': finding 'other': ERROR_OTHER");
  EXPECT_CONTAINS(
      problem("llvm", "iota", "iota"),
      std::string(isCUDA() ? "CUDA takes ptx or cubin" : "HIP takes hsaco") +
          ", not 'llvm' for any");
  std::string text = problem(getFormat(), "bad", "iota");
  EXPECT_CONTAINS(text, "on stand-in: ERROR_OTHER (218)");
  if (isCUDA())
    EXPECT_CONTAINS(text, "line 1: no such thing");
}

TEST_P(DriverDevices, RefusesCodeOfOtherChips) {
  auto device = create();
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  Plan plan = cantFail(parsePlan(iotaText(getFormat(), "iota"), "."));
  auto problem = [&](StringRef target) {
    KernelInfo kernel = plan.kernels[0];
    auto object = std::make_shared<KernelObject>(*kernel.object);
    object->target = target.str();
    kernel.object = object;
    auto loaded = (*device)->load(kernel);
    return loaded ? "" : toString(loaded.takeError());
  };
  // NVIDIA's driver says what it does not run.
  if (isCUDA())
    return;
  for (StringRef target : {"gfx942", "gfx9-4-generic", "any"})
    EXPECT_EQ(problem(target), "");
  for (StringRef other : {"gfx950", "gfx1100", "gfx11-generic"})
    EXPECT_CONTAINS(problem(other), "the code is for " + other.str() +
                                        ", the device is a gfx942 (stand-in)");
}

TEST_P(DriverDevices, ReportsWhatCannotBeOpened) {
  EXPECT_CONTAINS(toString(create(1).takeError()),
                  "device 1 of 1 does not exist");
  auto missing = isCUDA() ? createCUDADevice(0, "/does/not/exist.so")
                          : createHIPDevice(0, "/does/not/exist.so");
  EXPECT_CONTAINS(toString(missing.takeError()), "/does/not/exist.so");
  auto wrong = isCUDA() ? createCUDADevice(0, STAND_IN_HIP)
                        : createHIPDevice(0, STAND_IN_CUDA);
  EXPECT_CONTAINS(toString(wrong.takeError()), "the driver library lacks");
  EXPECT_CONTAINS(toString((isCUDA() ? createCUDADevice(0, STAND_IN_HIP)
                                     : createHIPDevice(0, STAND_IN_CUDA))
                               .takeError()),
                  "': it is too old or something else");
}

INSTANTIATE_TEST_SUITE_P(Drivers, DriverDevices,
                         testing::Values(Driver::CUDA, Driver::HIP),
                         [](const auto &info) {
                           return info.param == Driver::CUDA ? "CUDA" : "HIP";
                         });
} // namespace
