//===- XLAInterface.h - The binary interface of XLA FFI ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of XLA's foreign function interface that handlers need, as it lies
// in memory: version 0.1 of xla/ffi/api/c_api.h in openxla/xla. That header is
// part of jaxlib's wheel only, and nothing else here needs JAX; so its structs
// are declared anew, and test/Python/test_jax_interface.py compares each field
// with the header of the jaxlib at hand.
//
// Every struct begins with its size, by which each side knows what the other
// has: what comes later in an `Api` may be missing.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CAPI_XLAINTERFACE_H
#define EVOFORMER_LIB_CAPI_XLAINTERFACE_H

#include <cstddef>
#include <cstdint>

/// XLA's; only handed on.
struct XLA_FFI_Error;

namespace mlir::evoformer::capi::xla {

constexpr int majorVersion = 0, minorVersion = 1;

struct Extension {
  size_t structSize;
  int type;
  Extension *next;
};
constexpr int metadataExtension = 1;

struct Version {
  size_t structSize;
  Extension *extensions;
  int major, minor;
};

/// Calls always launch the same, so that they may be captured and replayed.
constexpr uint32_t commandBufferCompatible = 1;

/// What XLA asks a handler before its first use.
struct Metadata {
  size_t structSize;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

enum class ErrorCode : int { InvalidArgument = 3, Internal = 13 };

struct ErrorArguments {
  size_t structSize;
  Extension *extensions;
  const char *message;
  ErrorCode code;
};

struct ErrorDestroyArguments {
  size_t structSize;
  Extension *extensions;
  XLA_FFI_Error *error;
};

struct StreamArguments {
  size_t structSize;
  Extension *extensions;
  void *context;
  void *stream;
};

struct OrdinalArguments {
  size_t structSize;
  Extension *extensions;
  void *context;
  int32_t ordinal;
};

struct Api {
  size_t structSize;
  Extension *extensions;
  Version version;
  void *internal;
  XLA_FFI_Error *(*createError)(ErrorArguments *);
  void *getErrorMessage;
  void (*destroyError)(ErrorDestroyArguments *);
  void *registerHandler;
  XLA_FFI_Error *(*getStream)(StreamArguments *);
  void *registerTypeId;
  void *getExecutionContext;
  void *setState;
  void *getState;
  void *allocateMemory;
  void *freeMemory;
  void *scheduleTask;
  void *getNumThreads;
  void *createFuture;
  void *setFutureAvailable;
  void *setFutureError;
  void *getRunId;
  XLA_FFI_Error *(*getDeviceOrdinal)(OrdinalArguments *);
};

/// xla::PrimitiveType, as far as it is used here.
enum class DataType : int {
  Pred = 1,
  S32 = 4,
  U8 = 6,
  S64 = 5,
  F16 = 10,
  F32 = 11,
  BF16 = 16
};

struct Buffer {
  size_t structSize;
  Extension *extensions;
  DataType type;
  void *data;
  int64_t rank;
  int64_t *sizes;
};
constexpr int bufferKind = 1;

/// Operands, and likewise results.
struct Buffers {
  size_t structSize;
  Extension *extensions;
  int64_t count;
  int *kinds;
  Buffer **buffers;
};

struct Text {
  const char *data;
  size_t size;
};

struct Array {
  DataType type;
  size_t size;
  void *data;
};

enum class AttributeKind : int { Array = 1, Dictionary, Scalar, String };

struct Attributes {
  size_t structSize;
  Extension *extensions;
  int64_t count;
  AttributeKind *kinds;
  Text **names;
  void **values;
};

struct CallFrame {
  size_t structSize;
  Extension *extensions;
  const Api *api;
  void *context;
  int stage;
  Buffers operands, results;
  Attributes attributes;
};

} // namespace mlir::evoformer::capi::xla

#endif // EVOFORMER_LIB_CAPI_XLAINTERFACE_H
