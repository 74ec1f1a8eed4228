//===- XLA.h - Handlers of XLA's foreign functions --------------*- C -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handlers of XLA's typed foreign function interface ("XLA FFI"), to be
// registered with `jax.ffi.register_ffi_target` or XLA itself, under any name.
// All run what evoformerDescribeAttention describes; one per stage and
// platform.
//
// A custom call holds everything that its run needs, so that programs may be
// saved and run in another process:
//
//   attribute     what it is
//   description   words of evoformerDescribeAttention
//   options       words of evoformerCompile; their device is the handler's
//   dims          int64: for each dimension of each of the function's
//   arguments,
//                 in order, the dimension of the buffer that holds it
//   numbers         int64: those of its arguments that are numbers, behind its
//                   arrays; may be missing where there are none
//
// Its operands and then its results are the function's other arguments in their
// order, dense in row-major order and at addresses that are multiples of 16.
// One more result, last, of bytes, is the workspace: as many as
// evoformerProgramGetWorkspaceBytes says.
//
// Handlers may run on any thread, several at a time. They allocate no memory of
// the device and wait for nothing on a GPU; command buffers may hold them. What
// is wrong is an error of XLA with a sentence.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_C_XLA_H
#define EVOFORMER_C_XLA_H

#include "evoformer-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// XLA_FFI_CallFrame and XLA_FFI_Error of xla/ffi/api/c_api.h.
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;

/// The stage `execute`.
EVOFORMER_EXPORT struct XLA_FFI_Error *
evoformerXLAExecuteCPU(struct XLA_FFI_CallFrame *frame);
EVOFORMER_EXPORT struct XLA_FFI_Error *
evoformerXLAExecuteCUDA(struct XLA_FFI_CallFrame *frame);
EVOFORMER_EXPORT struct XLA_FFI_Error *
evoformerXLAExecuteHIP(struct XLA_FFI_CallFrame *frame);

/// The stage `initialize`: loads kernels, so that what is captured into a
/// command buffer are launches alone.
EVOFORMER_EXPORT struct XLA_FFI_Error *
evoformerXLAInitializeCUDA(struct XLA_FFI_CallFrame *frame);
EVOFORMER_EXPORT struct XLA_FFI_Error *
evoformerXLAInitializeHIP(struct XLA_FFI_CallFrame *frame);

#ifdef __cplusplus
}
#endif

#endif // EVOFORMER_C_XLA_H
