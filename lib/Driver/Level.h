//===- Level.h - Names of levels at which kernels run ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DRIVER_LEVEL_H
#define EVOFORMER_LIB_DRIVER_LEVEL_H

#include "Evoformer/Pipelines/Pipelines.h"

namespace mlir::evoformer {

/// `CompileOptions::level`.
std::optional<Level> parseLevel(StringRef name);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_DRIVER_LEVEL_H
