//===- Support.h - Errors and texts of the C API ----------------*- C -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function that can fail returns a status; what went wrong is a text for
// people, kept for each thread. Functions may be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_C_SUPPORT_H
#define EVOFORMER_C_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVOFORMER_EXPORT __attribute__((visibility("default")))

typedef enum EvoformerStatus {
  EVOFORMER_SUCCESS = 0,
  /// evoformerGetLastError says what.
  EVOFORMER_FAILURE = 1,
  /// The workspace is smaller than the call needs; nothing ran.
  EVOFORMER_WORKSPACE_TOO_SMALL = 2
} EvoformerStatus;

/// The version of the library, `0.1.0`, and of this interface: a number that
/// grows when a function comes, changes or goes.
EVOFORMER_EXPORT const char *evoformerGetVersion(void);
EVOFORMER_EXPORT int evoformerGetInterfaceVersion(void);

/// What went wrong in this thread's last failing call; valid until the next.
EVOFORMER_EXPORT const char *evoformerGetLastError(void);

/// Releases a text that a function handed out.
EVOFORMER_EXPORT void evoformerFreeText(char *text);

#ifdef __cplusplus
}
#endif

#endif // EVOFORMER_C_SUPPORT_H
