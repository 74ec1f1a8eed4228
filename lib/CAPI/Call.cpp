//===- Call.cpp - Running functions through C -----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call keeps what runs with its sizes launch: one recording for each way in
// which the addresses of its arguments are aligned.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Evoformer/Runtime/Recording.h"
#include "Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir::evoformer;
using namespace mlir::evoformer::capi;
using namespace mlir::evoformer::runtime;

/// Recordings of a call; more alignments than this take turns.
constexpr size_t maxVariants = 32;

namespace {
struct Variant {
  SmallVector<uint8_t, 16> lowBits;
  Recording recording;
};
} // namespace

struct EvoformerCall {
  EvoformerDevice *device;
  std::shared_ptr<LoadedProgram> program;
  const PlanFunction *function;
  std::vector<HostValue> arguments;
  uint64_t mask;
  std::vector<std::unique_ptr<Variant>> variants;

  /// With the device's mutex held.
  Expected<Recording *> getRecording(ArrayRef<uint64_t> addresses);
  Error replay(Recording &recording, ArrayRef<uint64_t> addresses,
               uint64_t workspace, void *stream);
};

Expected<Recording *>
EvoformerCall::getRecording(ArrayRef<uint64_t> addresses) {
  for (const std::unique_ptr<Variant> &variant : variants) {
    bool same = true;
    for (auto [low, address] : zip_equal(variant->lowBits, addresses))
      same &= low == (address & mask);
    if (same)
      return &variant->recording;
  }
  for (auto [argument, address] : zip_equal(arguments, addresses))
    argument.memref.allocated = argument.memref.aligned = address & mask;
  Expected<Recording> recording =
      Recording::create(program->program->plan, *function, arguments);
  if (!recording)
    return recording.takeError();
  if (Error error = program->load(*device->device, recording->getKernels()))
    return error;
  auto variant = std::make_unique<Variant>();
  for (uint64_t address : addresses)
    variant->lowBits.push_back(address & mask);
  variant->recording = std::move(*recording);
  if (variants.size() == maxVariants)
    variants.erase(variants.begin());
  variants.push_back(std::move(variant));
  return &variants.back()->recording;
}

Error EvoformerCall::replay(Recording &recording, ArrayRef<uint64_t> addresses,
                            uint64_t workspace, void *stream) {
  Device &target = *device->device;
  target.setStream(stream);
  return recording.replay(
      addresses, alignTo(workspace, bufferAlignment),
      [&](unsigned number, uint64_t workItems,
          ArrayRef<LaunchArgument> launchArguments) -> Error {
        return target.launch(*program->kernels[number], workItems,
                             launchArguments);
      });
}

/// With room for the alignment, which the caller need not care for.
static uint64_t getWorkspaceBytes(const Recording &recording) {
  uint64_t bytes = recording.getWorkspaceBytes();
  return bytes ? bytes + bufferAlignment : 0;
}

static Expected<const PlanFunction *> findFunction(const Plan &plan,
                                                   const char *name) {
  if (name) {
    if (const PlanFunction *function = plan.lookup(name))
      return function;
    return createStringError(Twine("the program has no function '") + name +
                             "'");
  }
  if (plan.functions.size() != 1)
    return createStringError("the program has " + Twine(plan.functions.size()) +
                             " functions: name one");
  return &plan.functions.front();
}

static Expected<HostValue> convertArgument(const PlanArgument &expected,
                                           const EvoformerArgument &given) {
  bool isMemRef = expected.type.kind == PlanType::Kind::MemRef;
  if (isMemRef != (given.rank >= 0) ||
      (isMemRef && given.rank != expected.type.getRank()))
    return createStringError(
        "argument '" + expected.name + "' is " +
        (isMemRef ? "a memref of rank " + Twine(expected.type.getRank())
                  : Twine("a scalar")) +
        ", given " +
        (given.rank >= 0 ? "rank " + Twine(given.rank) : Twine("a scalar")));
  HostValue value;
  value.bits = given.bits;
  if (isMemRef) {
    value.memref.sizes.assign(given.sizes, given.sizes + given.rank);
    value.memref.strides.assign(given.strides, given.strides + given.rank);
  }
  return value;
}

namespace {
/// A function with sizes and strides.
struct Bound {
  const PlanFunction *function;
  std::vector<HostValue> arguments;
  /// See Recording::getAddressMask.
  uint64_t mask;
};
} // namespace

static Expected<Bound> bindFunction(const Plan &plan, const char *name,
                                    ArrayRef<EvoformerArgument> arguments) {
  Expected<const PlanFunction *> function = findFunction(plan, name);
  if (!function)
    return function.takeError();
  ArrayRef<PlanArgument> expected = (*function)->arguments;
  if (expected.size() != arguments.size())
    return createStringError("function '" + (*function)->name + "' takes " +
                             Twine(expected.size()) + " arguments, not " +
                             Twine(arguments.size()));
  Bound bound{*function, {}, 0};
  for (auto [type, given] : zip_equal(expected, arguments)) {
    Expected<HostValue> value = convertArgument(type, given);
    if (!value)
      return value.takeError();
    bound.arguments.push_back(std::move(*value));
  }
  std::optional<uint64_t> mask = Recording::getAddressMask(**function);
  if (!mask)
    return createStringError("function '" + (*function)->name +
                             "' depends on more of its arguments' addresses "
                             "than their alignment");
  bound.mask = *mask;
  return bound;
}

static Expected<std::unique_ptr<EvoformerCall>>
createCall(const EvoformerProgram &program, EvoformerDevice &device,
           const char *name, ArrayRef<EvoformerArgument> arguments) {
  Expected<Bound> bound = bindFunction(program.data->plan, name, arguments);
  if (!bound)
    return bound.takeError();
  auto call = std::make_unique<EvoformerCall>();
  call->arguments = std::move(bound->arguments);
  call->mask = bound->mask;
  call->device = &device;
  call->function = bound->function;
  std::lock_guard<std::mutex> lock(device.mutex);
  auto &loaded = device.programs[program.data.get()];
  if (!loaded)
    loaded = std::make_shared<LoadedProgram>(program.data);
  call->program = loaded;
  return call;
}

/// The addresses of the arguments are 0, which is aligned to anything.
static Expected<uint64_t>
computeWorkspaceBytes(const Plan &plan, const char *name,
                      ArrayRef<EvoformerArgument> arguments) {
  Expected<Bound> bound = bindFunction(plan, name, arguments);
  if (!bound)
    return bound.takeError();
  // What lies at a multiple of this is as good as what lies at 0.
  constexpr uint64_t leastAlignment = 16;
  if (bound->mask >= leastAlignment)
    return createStringError("function '" + bound->function->name +
                             "' asks for addresses that are multiples of " +
                             Twine(bound->mask + 1));
  Expected<Recording> recording =
      Recording::create(plan, *bound->function, bound->arguments);
  if (!recording)
    return recording.takeError();
  return getWorkspaceBytes(*recording);
}

EvoformerStatus evoformerProgramGetWorkspaceBytes(
    EvoformerProgram *program, const char *function,
    const EvoformerArgument *arguments, size_t numArguments,
    uint64_t *workspaceBytes) {
  Expected<uint64_t> bytes = computeWorkspaceBytes(
      program->data->plan, function, ArrayRef(arguments, numArguments));
  if (!bytes)
    return fail(bytes.takeError());
  *workspaceBytes = *bytes;
  return EVOFORMER_SUCCESS;
}

EvoformerStatus evoformerCallCreate(EvoformerProgram *program,
                                    EvoformerDevice *device,
                                    const char *function,
                                    const EvoformerArgument *arguments,
                                    size_t numArguments, EvoformerCall **call) {
  auto created = createCall(*program, *device, function,
                            ArrayRef(arguments, numArguments));
  if (!created)
    return fail(created.takeError());
  *call = created->release();
  return EVOFORMER_SUCCESS;
}

void evoformerCallRelease(EvoformerCall *call) { delete call; }

/// Reads what a run with these operands does, while the device is the caller's.
static EvoformerStatus readRecording(EvoformerCall &call,
                                     const uint64_t *addresses,
                                     function_ref<void(Recording &)> read) {
  DeviceScope scope(*call.device);
  if (Error error = scope.takeError())
    return fail(std::move(error));
  Expected<Recording *> recording =
      call.getRecording(ArrayRef(addresses, call.arguments.size()));
  if (!recording)
    return fail(recording.takeError());
  read(**recording);
  return EVOFORMER_SUCCESS;
}

EvoformerStatus evoformerCallPrepare(EvoformerCall *call,
                                     const uint64_t *addresses,
                                     uint64_t *workspaceBytes) {
  return readRecording(*call, addresses, [&](Recording &recording) {
    *workspaceBytes = getWorkspaceBytes(recording);
  });
}

EvoformerStatus evoformerCallGetLaunches(EvoformerCall *call,
                                         const uint64_t *addresses,
                                         char **text) {
  return readRecording(*call, addresses, [&](Recording &recording) {
    json::Array launches;
    for (auto [kernel, workItems] : recording.getLaunches()) {
      const KernelInfo &info = call->program->kernels[kernel]->info;
      launches.push_back(
          json::Object{{"name", info.name},
                       {"symbol", info.symbol},
                       {"workItems", static_cast<int64_t>(workItems)},
                       {"threads", static_cast<int64_t>(info.threads)},
                       {"ldsBytes", static_cast<int64_t>(info.ldsBytes)},
                       {"report", info.report}});
    }
    std::string written;
    raw_string_ostream(written) << json::Value(std::move(launches));
    *text = copyText(written);
  });
}

EvoformerStatus evoformerCallRun(EvoformerCall *call, const uint64_t *addresses,
                                 uint64_t workspace, uint64_t *workspaceBytes,
                                 void *stream) {
  ArrayRef given(addresses, call->arguments.size());
  DeviceScope scope(*call->device);
  if (Error error = scope.takeError())
    return fail(std::move(error));
  Expected<Recording *> recording = call->getRecording(given);
  if (!recording)
    return fail(recording.takeError());
  uint64_t bytes = getWorkspaceBytes(**recording);
  if (*workspaceBytes < bytes) {
    *workspaceBytes = bytes;
    fail("the workspace is too small");
    return EVOFORMER_WORKSPACE_TOO_SMALL;
  }
  if (Error error = call->replay(**recording, given, workspace, stream))
    return fail(std::move(error));
  return EVOFORMER_SUCCESS;
}
