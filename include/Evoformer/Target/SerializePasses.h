//===- SerializePasses.h - Writing code objects -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_SERIALIZEPASSES_H
#define EVOFORMER_TARGET_SERIALIZEPASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::evoformer {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Evoformer/Target/SerializePasses.h.inc"

} // namespace mlir::evoformer

#endif // EVOFORMER_TARGET_SERIALIZEPASSES_H
