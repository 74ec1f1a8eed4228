//===- xla_caller.cpp - What XLA does with a handler ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls a handler by the header of the jaxlib at hand, and compares each field
// of the declarations that libevoformer is built with to that header's.
//
//===----------------------------------------------------------------------===//

#include "XLAInterface.h"
#include "xla/ffi/api/c_api.h"
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ours = mlir::evoformer::capi::xla;

#define SAME(OURS, FIELD, THEIRS, NAME)                                        \
  static_assert(offsetof(ours::OURS, FIELD) == offsetof(THEIRS, NAME) &&       \
                sizeof(ours::OURS::FIELD) == sizeof(THEIRS::NAME))
#define SAME_VALUE(OURS, THEIRS)                                               \
  static_assert(static_cast<int>(OURS) == static_cast<int>(THEIRS))

SAME(Extension, structSize, XLA_FFI_Extension_Base, struct_size);
SAME(Extension, type, XLA_FFI_Extension_Base, type);
SAME(Extension, next, XLA_FFI_Extension_Base, next);
SAME_VALUE(ours::metadataExtension, XLA_FFI_Extension_Metadata);
SAME(Version, structSize, XLA_FFI_Api_Version, struct_size);
SAME(Version, extensions, XLA_FFI_Api_Version, extension_start);
SAME(Version, major, XLA_FFI_Api_Version, major_version);
SAME(Version, minor, XLA_FFI_Api_Version, minor_version);
SAME_VALUE(ours::majorVersion, XLA_FFI_API_MAJOR);
SAME_VALUE(ours::commandBufferCompatible,
           XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);
SAME(Metadata, structSize, XLA_FFI_Metadata, struct_size);
SAME(Metadata, version, XLA_FFI_Metadata, api_version);
SAME(Metadata, traits, XLA_FFI_Metadata, traits);
SAME(MetadataExtension, base, XLA_FFI_Metadata_Extension, extension_base);
SAME(MetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);
SAME_VALUE(ours::ErrorCode::InvalidArgument,
           XLA_FFI_Error_Code_INVALID_ARGUMENT);
SAME(ErrorArguments, structSize, XLA_FFI_Error_Create_Args, struct_size);
SAME(ErrorArguments, extensions, XLA_FFI_Error_Create_Args, extension_start);
SAME(ErrorArguments, message, XLA_FFI_Error_Create_Args, message);
SAME(ErrorArguments, code, XLA_FFI_Error_Create_Args, errc);
SAME(ErrorDestroyArguments, structSize, XLA_FFI_Error_Destroy_Args,
     struct_size);
SAME(ErrorDestroyArguments, extensions, XLA_FFI_Error_Destroy_Args,
     extension_start);
SAME(ErrorDestroyArguments, error, XLA_FFI_Error_Destroy_Args, error);
SAME(StreamArguments, structSize, XLA_FFI_Stream_Get_Args, struct_size);
SAME(StreamArguments, extensions, XLA_FFI_Stream_Get_Args, extension_start);
SAME(StreamArguments, context, XLA_FFI_Stream_Get_Args, ctx);
SAME(StreamArguments, stream, XLA_FFI_Stream_Get_Args, stream);
SAME(OrdinalArguments, structSize, XLA_FFI_DeviceOrdinal_Get_Args, struct_size);
SAME(OrdinalArguments, extensions, XLA_FFI_DeviceOrdinal_Get_Args,
     extension_start);
SAME(OrdinalArguments, context, XLA_FFI_DeviceOrdinal_Get_Args, ctx);
SAME(OrdinalArguments, ordinal, XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);
SAME(Api, structSize, XLA_FFI_Api, struct_size);
SAME(Api, version, XLA_FFI_Api, api_version);
SAME(Api, createError, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME(Api, destroyError, XLA_FFI_Api, XLA_FFI_Error_Destroy);
SAME(Api, getStream, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME(Api, getDeviceOrdinal, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
SAME_VALUE(ours::DataType::Pred, XLA_FFI_DataType_PRED);
SAME_VALUE(ours::DataType::U8, XLA_FFI_DataType_U8);
SAME_VALUE(ours::DataType::S64, XLA_FFI_DataType_S64);
SAME_VALUE(ours::DataType::F16, XLA_FFI_DataType_F16);
SAME_VALUE(ours::DataType::F32, XLA_FFI_DataType_F32);
SAME_VALUE(ours::DataType::BF16, XLA_FFI_DataType_BF16);
SAME(Buffer, structSize, XLA_FFI_Buffer, struct_size);
SAME(Buffer, type, XLA_FFI_Buffer, dtype);
SAME(Buffer, data, XLA_FFI_Buffer, data);
SAME(Buffer, rank, XLA_FFI_Buffer, rank);
SAME(Buffer, sizes, XLA_FFI_Buffer, dims);
SAME_VALUE(ours::bufferKind, XLA_FFI_ArgType_BUFFER);
SAME_VALUE(ours::bufferKind, XLA_FFI_RetType_BUFFER);
SAME(Buffers, count, XLA_FFI_Args, size);
SAME(Buffers, kinds, XLA_FFI_Args, types);
SAME(Buffers, buffers, XLA_FFI_Args, args);
SAME(Buffers, count, XLA_FFI_Rets, size);
SAME(Buffers, kinds, XLA_FFI_Rets, types);
SAME(Buffers, buffers, XLA_FFI_Rets, rets);
SAME(Text, data, XLA_FFI_ByteSpan, ptr);
SAME(Text, size, XLA_FFI_ByteSpan, len);
SAME(Array, type, XLA_FFI_Array, dtype);
SAME(Array, size, XLA_FFI_Array, size);
SAME(Array, data, XLA_FFI_Array, data);
SAME_VALUE(ours::AttributeKind::Array, XLA_FFI_AttrType_ARRAY);
SAME_VALUE(ours::AttributeKind::String, XLA_FFI_AttrType_STRING);
SAME(Attributes, count, XLA_FFI_Attrs, size);
SAME(Attributes, kinds, XLA_FFI_Attrs, types);
SAME(Attributes, names, XLA_FFI_Attrs, names);
SAME(Attributes, values, XLA_FFI_Attrs, attrs);
SAME(CallFrame, structSize, XLA_FFI_CallFrame, struct_size);
SAME(CallFrame, extensions, XLA_FFI_CallFrame, extension_start);
SAME(CallFrame, api, XLA_FFI_CallFrame, api);
SAME(CallFrame, context, XLA_FFI_CallFrame, ctx);
SAME(CallFrame, stage, XLA_FFI_CallFrame, stage);
SAME(CallFrame, operands, XLA_FFI_CallFrame, args);
SAME(CallFrame, results, XLA_FFI_CallFrame, rets);
SAME(CallFrame, attributes, XLA_FFI_CallFrame, attrs);

struct XLA_FFI_Error {
  std::string message;
};

/// Where the call runs; a negative ordinal and a null stream are errors of
/// XLA's.
struct XLA_FFI_ExecutionContext {
  int ordinal;
  void *stream;
};

static int numErrors = 0;

static XLA_FFI_Error *createError(XLA_FFI_Error_Create_Args *args) {
  ++numErrors;
  return new XLA_FFI_Error{args->message};
}
static void destroyError(XLA_FFI_Error_Destroy_Args *args) {
  --numErrors;
  delete args->error;
}
static XLA_FFI_Error *getStream(XLA_FFI_Stream_Get_Args *args) {
  args->stream = args->ctx->stream;
  if (args->stream)
    return nullptr;
  ++numErrors;
  return new XLA_FFI_Error{"no stream"};
}
static XLA_FFI_Error *getOrdinal(XLA_FFI_DeviceOrdinal_Get_Args *args) {
  args->device_ordinal = args->ctx->ordinal;
  if (args->device_ordinal >= 0)
    return nullptr;
  ++numErrors;
  return new XLA_FFI_Error{"no device"};
}

static XLA_FFI_Api makeApi(size_t structSize) {
  XLA_FFI_Api api = {};
  api.struct_size = structSize;
  api.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr,
                     XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
  api.XLA_FFI_Error_Create = createError;
  api.XLA_FFI_Error_Destroy = destroyError;
  api.XLA_FFI_Stream_Get = getStream;
  api.XLA_FFI_DeviceOrdinal_Get = getOrdinal;
  return api;
}

extern "C" {

/// A buffer as Python hands it over.
struct Given {
  int32_t type;
  void *data;
  int64_t rank;
  int64_t *sizes;
};

/// The error's message, empty without one, valid until the next call. `old` is
/// an XLA whose handlers cannot ask for their device.
const char *callHandler(XLA_FFI_Handler *handler, int stage, int ordinal,
                        void *stream, bool old, const Given *operands,
                        int numOperands, const Given *results, int numResults,
                        const char *description, const char *options,
                        int64_t *dims, size_t numDims) {
  XLA_FFI_Api api =
      makeApi(old ? offsetof(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get)
                  : size_t(XLA_FFI_Api_STRUCT_SIZE));
  XLA_FFI_ExecutionContext context = {ordinal, stream};

  std::vector<XLA_FFI_Buffer> buffers;
  for (int i = 0; i < numOperands + numResults; ++i) {
    const Given &given =
        i < numOperands ? operands[i] : results[i - numOperands];
    buffers.push_back({XLA_FFI_Buffer_STRUCT_SIZE, nullptr,
                       static_cast<XLA_FFI_DataType>(given.type), given.data,
                       given.rank, given.sizes});
  }
  std::vector<void *> pointers;
  for (XLA_FFI_Buffer &buffer : buffers)
    pointers.push_back(&buffer);
  std::vector<XLA_FFI_ArgType> argTypes(numOperands, XLA_FFI_ArgType_BUFFER);
  std::vector<XLA_FFI_RetType> retTypes(numResults, XLA_FFI_RetType_BUFFER);

  // Sorted by name, as XLA has them. A null one is not there.
  XLA_FFI_ByteSpan description_ = {description,
                                   description ? std::strlen(description) : 0};
  XLA_FFI_ByteSpan options_ = {options, std::strlen(options)};
  XLA_FFI_Array dims_ = {XLA_FFI_DataType_S64, numDims, dims};
  std::vector<XLA_FFI_AttrType> attrTypes;
  std::vector<XLA_FFI_ByteSpan> names;
  std::vector<void *> values;
  auto add = [&](XLA_FFI_AttrType type, const char *name, void *value) {
    attrTypes.push_back(type);
    names.push_back({name, std::strlen(name)});
    values.push_back(value);
  };
  if (description)
    add(XLA_FFI_AttrType_STRING, "description", &description_);
  add(XLA_FFI_AttrType_ARRAY, "dims", &dims_);
  add(XLA_FFI_AttrType_STRING, "options", &options_);
  std::vector<XLA_FFI_ByteSpan *> namePointers;
  for (XLA_FFI_ByteSpan &name : names)
    namePointers.push_back(&name);

  XLA_FFI_CallFrame frame = {};
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.api = &api;
  frame.ctx = &context;
  frame.stage = static_cast<XLA_FFI_ExecutionStage>(stage);
  frame.args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, numOperands, argTypes.data(),
                pointers.data()};
  frame.rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, numResults, retTypes.data(),
                pointers.data() + numOperands};
  frame.attrs = {XLA_FFI_Attrs_STRUCT_SIZE,
                 nullptr,
                 static_cast<int64_t>(values.size()),
                 attrTypes.data(),
                 namePointers.data(),
                 values.data()};
  static std::string message;
  message.clear();
  if (XLA_FFI_Error *error = handler(&frame)) {
    message = error->message;
    XLA_FFI_Error_Destroy_Args args = {XLA_FFI_Error_Destroy_Args_STRUCT_SIZE,
                                       nullptr, error};
    destroyError(&args);
  }
  return message.c_str();
}

/// What a handler says it is: major version, minor version, traits.
bool askHandler(XLA_FFI_Handler *handler, int *answer) {
  XLA_FFI_Api api = makeApi(XLA_FFI_Api_STRUCT_SIZE);
  XLA_FFI_Metadata metadata = {};
  metadata.struct_size = XLA_FFI_Metadata_STRUCT_SIZE;
  XLA_FFI_Metadata_Extension extension = {
      {XLA_FFI_Metadata_Extension_STRUCT_SIZE, XLA_FFI_Extension_Metadata,
       nullptr},
      &metadata};
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.extension_start = &extension.extension_base;
  frame.api = &api;
  if (handler(&frame))
    return false;
  answer[0] = metadata.api_version.major_version;
  answer[1] = metadata.api_version.minor_version;
  answer[2] = metadata.traits;
  return true;
}

/// Errors that nobody has released.
int countErrors() { return numErrors; }
}
