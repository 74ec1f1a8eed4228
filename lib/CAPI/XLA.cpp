//===- XLA.cpp - Handlers of XLA's foreign functions ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handler reads from the call frame what the custom call says, finds or makes
// the call of the C interface for it, and runs that on XLA's buffers and
// stream.
//
//===----------------------------------------------------------------------===//

#include "evoformer-c/XLA.h"
#include "Program.h"
#include "Support.h"
#include "XLAInterface.h"
#include "evoformer-c/Runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <mutex>

using namespace llvm;
using namespace mlir::evoformer;
using namespace mlir::evoformer::capi;
using mlir::evoformer::runtime::ElementType;

/// Calls that are kept; then all are made again.
constexpr size_t maxCalls = 4096;

namespace {
/// The attributes of a custom call.
struct Request {
  StringRef description, options;
  ArrayRef<int64_t> dims;
  /// Behind the arrays; none if the call says none.
  ArrayRef<int64_t> numbers;
};

/// A call that handlers share.
struct PreparedCall {
  PreparedCall() = default;
  PreparedCall(const PreparedCall &) = delete;
  PreparedCall &operator=(const PreparedCall &) = delete;
  ~PreparedCall() {
    evoformerCallRelease(call);
    evoformerProgramRelease(program);
  }

  EvoformerProgram *program = nullptr;
  EvoformerCall *call = nullptr;
};

/// One run of a handler.
class Handler {
public:
  Handler(const xla::CallFrame &frame, StringRef kind)
      : frame(frame), kind(kind) {}

  Error initialize();
  Error execute();

private:
  Error readAttributes();
  Error readBuffers();
  Error readOrdinal();
  Error prepare();
  Expected<std::shared_ptr<PreparedCall>> createCall() const;
  std::string getKey() const;
  Expected<void *> getStream() const;

  const xla::CallFrame &frame;
  const StringRef kind;
  Request request;
  int ordinal = 0;
  /// The function's arguments.
  SmallVector<const xla::Buffer *, 16> arguments;
  SmallVector<uint64_t, 16> addresses;
  const xla::Buffer *workspace = nullptr;
  std::shared_ptr<PreparedCall> prepared;
};
} // namespace

/// What the last function of the C interface reports.
static Error takeLastError() {
  return createStringError(evoformerGetLastError());
}

/// The size that arguments say they have, without what pads them.
#define EVOFORMER_SIZE_TO(STRUCT, LAST)                                        \
  (offsetof(STRUCT, LAST) + sizeof(STRUCT::LAST))

/// Whether a function of XLA's succeeded. An error of its own is released: one
/// that says more takes its place.
static bool succeeded(const xla::Api &api, XLA_FFI_Error *error) {
  if (!error)
    return true;
  xla::ErrorDestroyArguments arguments = {
      EVOFORMER_SIZE_TO(xla::ErrorDestroyArguments, error), nullptr, error};
  api.destroyError(&arguments);
  return false;
}

Error Handler::readAttributes() {
  bool hasDescription = false, hasOptions = false, hasDims = false;
  const xla::Attributes &given = frame.attributes;
  for (int64_t i = 0; i < given.count; ++i) {
    StringRef name(given.names[i]->data, given.names[i]->size);
    if (given.kinds[i] == xla::AttributeKind::String) {
      const auto &text = *static_cast<const xla::Text *>(given.values[i]);
      StringRef value(text.data, text.size);
      if (name == "description") {
        request.description = value;
        hasDescription = true;
      } else if (name == "options") {
        request.options = value;
        hasOptions = true;
      }
    } else if (given.kinds[i] == xla::AttributeKind::Array &&
               (name == "dims" || name == "numbers")) {
      const auto &array = *static_cast<const xla::Array *>(given.values[i]);
      if (array.type != xla::DataType::S64)
        continue;
      hasDims |= name == "dims";
      (name == "dims" ? request.dims : request.numbers) =
          ArrayRef(static_cast<const int64_t *>(array.data), array.size);
    }
  }
  if (!hasDescription || !hasOptions || !hasDims)
    return createStringError(
        "the custom call lacks one of its attributes: they are the strings "
        "description and options and the int64 array dims");
  return Error::success();
}

static Error appendBuffers(const xla::Buffers &from,
                           SmallVectorImpl<const xla::Buffer *> &to) {
  for (int64_t i = 0; i < from.count; ++i) {
    if (from.kinds[i] != xla::bufferKind)
      return createStringError("an operand or result is no buffer");
    to.push_back(from.buffers[i]);
  }
  return Error::success();
}

Error Handler::readBuffers() {
  if (Error error = appendBuffers(frame.operands, arguments))
    return error;
  if (Error error = appendBuffers(frame.results, arguments))
    return error;
  if (frame.results.count == 0)
    return createStringError("the custom call has no results: the last one is "
                             "the workspace");
  workspace = arguments.pop_back_val();
  if (workspace->type != xla::DataType::U8 || workspace->rank != 1)
    return createStringError("the last result is the workspace, of type u8 and "
                             "rank 1");
  for (const xla::Buffer *buffer : arguments)
    addresses.push_back(reinterpret_cast<uint64_t>(buffer->data));
  return Error::success();
}

/// The processor is one device, however many XLA makes of it.
Error Handler::readOrdinal() {
  if (kind == "cpu")
    return Error::success();
  const xla::Api &api = *frame.api;
  if (api.structSize < EVOFORMER_SIZE_TO(xla::Api, getDeviceOrdinal))
    return createStringError("this XLA does not tell a handler its device: "
                             "jaxlib 0.6 or newer is needed");
  xla::OrdinalArguments arguments = {
      EVOFORMER_SIZE_TO(xla::OrdinalArguments, ordinal), nullptr, frame.context,
      -1};
  if (!succeeded(api, api.getDeviceOrdinal(&arguments)) ||
      arguments.ordinal < 0)
    return createStringError("XLA names no device for the custom call");
  ordinal = arguments.ordinal;
  return Error::success();
}

Expected<void *> Handler::getStream() const {
  if (kind == "cpu")
    return nullptr;
  xla::StreamArguments arguments = {
      EVOFORMER_SIZE_TO(xla::StreamArguments, stream), nullptr, frame.context,
      nullptr};
  if (!succeeded(*frame.api, frame.api->getStream(&arguments)))
    return createStringError("XLA names no stream for the custom call");
  return arguments.stream;
}

static StringRef getName(xla::DataType type) {
  switch (type) {
  case xla::DataType::Pred:
    return "i1";
  case xla::DataType::S32:
    return "i32";
  case xla::DataType::F16:
    return "f16";
  case xla::DataType::F32:
    return "f32";
  case xla::DataType::BF16:
    return "bf16";
  case xla::DataType::U8:
    return "u8";
  case xla::DataType::S64:
    return "i64";
  }
  return "another type";
}

namespace {
/// Sizes and strides of a buffer in the order of a memref.
struct View {
  SmallVector<int64_t, 6> sizes, strides;
};
} // namespace

/// Takes a buffer's dimensions off `dims`.
static Expected<View> viewBuffer(const runtime::PlanArgument &argument,
                                 const xla::Buffer &buffer,
                                 ArrayRef<int64_t> &dims) {
  auto say = [&](const Twine &what) {
    return createStringError("'" + argument.name + "' " + what);
  };
  StringRef expected = runtime::getName(argument.type.elementType);
  if (getName(buffer.type) != expected)
    return say("has type " + getName(buffer.type) + " (" +
               Twine(static_cast<int>(buffer.type)) +
               " of XLA's); accepted is " + expected);
  int64_t rank = argument.type.getRank();
  if (buffer.rank != rank)
    return say("has rank " + Twine(buffer.rank) + "; accepted is " +
               Twine(rank));
  if (static_cast<int64_t>(dims.size()) < rank)
    return say("has no dimensions in the attribute dims");
  ArrayRef<int64_t> order = dims.take_front(rank);
  dims = dims.drop_front(rank);
  SmallVector<int64_t, 6> steps(rank);
  int64_t step = 1;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    steps[dim] = step;
    if (MulOverflow(step, std::max<int64_t>(buffer.sizes[dim], 1), step))
      return say("is too large");
  }
  View view;
  SmallVector<bool, 6> seen(rank, false);
  for (int64_t dim : order) {
    if (dim < 0 || dim >= rank || seen[dim])
      return say(
          "has dimensions in the attribute dims that are no permutation");
    seen[dim] = true;
    view.sizes.push_back(buffer.sizes[dim]);
    view.strides.push_back(steps[dim]);
  }
  return view;
}

Expected<std::shared_ptr<PreparedCall>> Handler::createCall() const {
  bool isForKind = false;
  if (Error error =
          forEachWord(request.options, [&](StringRef key, StringRef value) {
            isForKind |= key == "device" && value == kind;
            return Error::success();
          }))
    return std::move(error);
  if (!isForKind)
    return createStringError("the attribute options, '" + request.options +
                             "', is not for device=" + kind);
  auto made = std::make_shared<PreparedCall>();
  char *module = nullptr;
  if (evoformerDescribeAttention(request.description.str().c_str(), &module))
    return takeLastError();
  EvoformerStatus status =
      evoformerCompile(module, request.options.str().c_str(), &made->program);
  evoformerFreeText(module);
  if (status)
    return takeLastError();

  const runtime::Plan &plan = made->program->data->plan;
  ArrayRef<runtime::PlanArgument> expected = plan.functions.front().arguments;
  // Arrays come before numbers.
  size_t numArrays =
      llvm::count_if(expected, [](const runtime::PlanArgument &argument) {
        return argument.type.kind == runtime::PlanType::Kind::MemRef;
      });
  if (numArrays != arguments.size())
    return createStringError("the custom call has " + Twine(arguments.size()) +
                             " operands and results besides the workspace; its "
                             "description takes " +
                             Twine(numArrays));
  if (expected.size() - numArrays != request.numbers.size())
    return createStringError("the attribute numbers has " +
                             Twine(request.numbers.size()) +
                             " numbers; the description takes " +
                             Twine(expected.size() - numArrays));
  ArrayRef<int64_t> dims = request.dims;
  SmallVector<View> views;
  SmallVector<EvoformerArgument> table;
  for (auto [argument, buffer] :
       zip_equal(expected.take_front(numArrays), arguments)) {
    Expected<View> view = viewBuffer(argument, *buffer, dims);
    if (!view)
      return view.takeError();
    views.push_back(std::move(*view));
  }
  if (!dims.empty())
    return createStringError("the attribute dims has " + Twine(dims.size()) +
                             " numbers too many");
  for (const View &view : views)
    table.push_back({static_cast<int64_t>(view.sizes.size()), view.sizes.data(),
                     view.strides.data(), 0});
  for (int64_t number : request.numbers)
    table.push_back({-1, nullptr, nullptr, static_cast<uint64_t>(number)});

  EvoformerDevice *device = nullptr;
  const char *driver =
      kind == "cpu" ? nullptr : std::getenv("EVOFORMER_DRIVER_LIBRARY");
  if (evoformerDeviceOpen(kind.str().c_str(), ordinal, driver, &device) ||
      evoformerCallCreate(made->program, device, nullptr, table.data(),
                          table.size(), &made->call))
    return takeLastError();
  return made;
}

/// Everything that a call depends on.
std::string Handler::getKey() const {
  std::string key;
  auto append = [&](const void *data, size_t bytes) {
    key.append(static_cast<const char *>(data), bytes);
  };
  auto appendNumber = [&](int64_t number) { append(&number, sizeof(number)); };
  for (StringRef text : {kind, request.description, request.options}) {
    appendNumber(text.size());
    append(text.data(), text.size());
  }
  appendNumber(ordinal);
  appendNumber(request.dims.size());
  append(request.dims.data(), request.dims.size() * sizeof(int64_t));
  appendNumber(request.numbers.size());
  append(request.numbers.data(), request.numbers.size() * sizeof(int64_t));
  for (const xla::Buffer *buffer : arguments) {
    appendNumber(static_cast<int64_t>(buffer->type));
    appendNumber(buffer->rank);
    append(buffer->sizes, buffer->rank * sizeof(int64_t));
  }
  return key;
}

Error Handler::prepare() {
  if (Error error = readAttributes())
    return error;
  if (Error error = readBuffers())
    return error;
  if (Error error = readOrdinal())
    return error;
  static std::mutex mutex;
  // Not destroyed at exit: threads of XLA's may still run.
  static auto &calls = *new StringMap<std::shared_ptr<PreparedCall>>();
  std::string key = getKey();
  {
    std::lock_guard<std::mutex> lock(mutex);
    prepared = calls.lookup(key);
  }
  if (prepared)
    return Error::success();
  // Compiling takes long and is done once for equal programs in any case.
  Expected<std::shared_ptr<PreparedCall>> made = createCall();
  if (!made)
    return made.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  if (calls.size() >= maxCalls)
    calls.clear();
  prepared = calls.try_emplace(key, std::move(*made)).first->second;
  return Error::success();
}

Error Handler::initialize() {
  if (Error error = prepare())
    return error;
  uint64_t bytes = 0;
  addresses.resize(addresses.size() + request.numbers.size());
  if (evoformerCallPrepare(prepared->call, addresses.data(), &bytes))
    return takeLastError();
  return Error::success();
}

Error Handler::execute() {
  if (Error error = prepare())
    return error;
  Expected<void *> stream = getStream();
  if (!stream)
    return stream.takeError();
  uint64_t available = workspace->sizes[0], needed = available;
  addresses.resize(addresses.size() + request.numbers.size());
  switch (evoformerCallRun(prepared->call, addresses.data(),
                           reinterpret_cast<uint64_t>(workspace->data), &needed,
                           *stream)) {
  case EVOFORMER_SUCCESS:
    return Error::success();
  case EVOFORMER_FAILURE:
    return takeLastError();
  case EVOFORMER_WORKSPACE_TOO_SMALL:
    return createStringError("the workspace has " + Twine(available) +
                             " bytes; " + Twine(needed) +
                             " are needed by buffers that lie as these do");
  }
  return Error::success();
}

/// Answers XLA's question what the handler is; false where it asked none.
static bool answerMetadata(const xla::CallFrame &frame) {
  for (xla::Extension *extension = frame.extensions; extension;
       extension = extension->next) {
    if (extension->type != xla::metadataExtension)
      continue;
    xla::Metadata &metadata =
        *reinterpret_cast<xla::MetadataExtension *>(extension)->metadata;
    metadata.version.major = xla::majorVersion;
    metadata.version.minor = xla::minorVersion;
    metadata.traits = xla::commandBufferCompatible;
    return true;
  }
  return false;
}

static XLA_FFI_Error *handle(XLA_FFI_CallFrame *given, StringRef kind,
                             Error (Handler::*stage)()) {
  const auto &frame = *reinterpret_cast<const xla::CallFrame *>(given);
  if (answerMetadata(frame))
    return nullptr;
  Handler handler(frame, kind);
  Error error = (handler.*stage)();
  if (!error)
    return nullptr;
  std::string message = "evoformer.attention: " + toString(std::move(error));
  xla::ErrorArguments arguments = {EVOFORMER_SIZE_TO(xla::ErrorArguments, code),
                                   nullptr, message.c_str(),
                                   xla::ErrorCode::InvalidArgument};
  return frame.api->createError(&arguments);
}

XLA_FFI_Error *evoformerXLAExecuteCPU(XLA_FFI_CallFrame *frame) {
  return handle(frame, "cpu", &Handler::execute);
}
XLA_FFI_Error *evoformerXLAExecuteCUDA(XLA_FFI_CallFrame *frame) {
  return handle(frame, "cuda", &Handler::execute);
}
XLA_FFI_Error *evoformerXLAExecuteHIP(XLA_FFI_CallFrame *frame) {
  return handle(frame, "hip", &Handler::execute);
}
XLA_FFI_Error *evoformerXLAInitializeCUDA(XLA_FFI_CallFrame *frame) {
  return handle(frame, "cuda", &Handler::initialize);
}
XLA_FFI_Error *evoformerXLAInitializeHIP(XLA_FFI_CallFrame *frame) {
  return handle(frame, "hip", &Handler::initialize);
}
