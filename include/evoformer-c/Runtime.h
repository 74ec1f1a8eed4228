//===- Runtime.h - Running compiled programs through C ----------*- C -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_C_RUNTIME_H
#define EVOFORMER_C_RUNTIME_H

#include "evoformer-c/Compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A processor or GPU. It stays open until the process ends.
typedef struct EvoformerDevice EvoformerDevice;

/// A function of a program with sizes and strides, on a device.
typedef struct EvoformerCall EvoformerCall;

/// `kind` is cpu, cuda or hip; `ordinal` the GPU's number as the driver counts.
/// Opening a device again gives the same one. The driver's library is opened
/// here, by `library` or by its usual name where that is null.
EVOFORMER_EXPORT EvoformerStatus evoformerDeviceOpen(const char *kind,
                                                     int ordinal,
                                                     const char *library,
                                                     EvoformerDevice **device);

/// The chip by its target name and a description for people. `chip` is empty
/// where only the caller knows it.
EVOFORMER_EXPORT const char *
evoformerDeviceGetChip(const EvoformerDevice *device);
EVOFORMER_EXPORT const char *
evoformerDeviceGetDescription(const EvoformerDevice *device);

/// Waits for everything that was launched on the device.
EVOFORMER_EXPORT EvoformerStatus
evoformerDeviceSynchronize(EvoformerDevice *device);

/// An argument of a function: a memref's rank, sizes and strides (in elements),
/// or a scalar's bits where rank is -1.
typedef struct EvoformerArgument {
  int64_t rank;
  const int64_t *sizes;
  const int64_t *strides;
  uint64_t bits;
} EvoformerArgument;

/// Takes one argument for each of the function's, in its order; `function` null
/// is the only one. Sizes that do not fit are an error that names the argument.
/// `*call` holds one reference; it keeps the program.
EVOFORMER_EXPORT EvoformerStatus
evoformerCallCreate(EvoformerProgram *program, EvoformerDevice *device,
                    const char *function, const EvoformerArgument *arguments,
                    size_t numArguments, EvoformerCall **call);

EVOFORMER_EXPORT void evoformerCallRelease(EvoformerCall *call);

/// The bytes of workspace that a run takes whose arguments, as of
/// evoformerCallCreate, lie at addresses that are multiples of 16. Needs no
/// device.
EVOFORMER_EXPORT EvoformerStatus evoformerProgramGetWorkspaceBytes(
    EvoformerProgram *program, const char *function,
    const EvoformerArgument *arguments, size_t numArguments,
    uint64_t *workspaceBytes);

/// Finds out what a run with these addresses does, loads its kernels, and gives
/// the bytes of workspace that it takes. `addresses` has one entry for each
/// argument; a scalar's is ignored. Not needed before evoformerCallRun.
EVOFORMER_EXPORT EvoformerStatus evoformerCallPrepare(EvoformerCall *call,
                                                      const uint64_t *addresses,
                                                      uint64_t *workspaceBytes);

/// What a run with these addresses launches, in order, as a JSON array of
/// objects: `name`, `symbol` (by which profilers call it), `workItems`,
/// `threads` and `ldsBytes` of a workgroup, and the compiler's `report`.
/// `*text` is to be released by evoformerFreeText.
EVOFORMER_EXPORT EvoformerStatus evoformerCallGetLaunches(
    EvoformerCall *call, const uint64_t *addresses, char **text);

/// Runs the function on the device's memory at `addresses`. On a GPU the
/// launches go to `stream` and may still run when this returns; no memory is
/// allocated and nothing synchronised, so that a graph may capture it once
/// evoformerCallPrepare has seen addresses of the same alignment. The workspace
/// needs no alignment; where it is too small, `*workspaceBytes` is what is
/// needed and nothing ran.
EVOFORMER_EXPORT EvoformerStatus evoformerCallRun(EvoformerCall *call,
                                                  const uint64_t *addresses,
                                                  uint64_t workspace,
                                                  uint64_t *workspaceBytes,
                                                  void *stream);

#ifdef __cplusplus
}
#endif

#endif // EVOFORMER_C_RUNTIME_H
