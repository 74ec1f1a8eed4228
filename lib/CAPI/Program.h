//===- Program.h - What the C API calls a program ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CAPI_PROGRAM_H
#define EVOFORMER_LIB_CAPI_PROGRAM_H

#include "Evoformer/Runtime/Plan.h"
#include "evoformer-c/Compile.h"

namespace mlir::evoformer::capi {

/// A compiled program, shared by handles, calls and the cache in memory.
struct ProgramData {
  std::string planText;
  runtime::Plan plan;
};

} // namespace mlir::evoformer::capi

/// The handle.
struct EvoformerProgram {
  std::shared_ptr<const mlir::evoformer::capi::ProgramData> data;
  const char *origin;
};

#endif // EVOFORMER_LIB_CAPI_PROGRAM_H
